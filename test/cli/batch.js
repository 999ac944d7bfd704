/** Many command lines in one process, each through main() as bin/ calls it: for those that end before a run begins. */
import { main } from '../../src/cli/main.js';

// Each call listens for errors of the whole process, as if it were alone in it.
for (const each of [process, process.stdout, process.stderr]) each.setMaxListeners(0);

process.on('message', async (/** @type {{args: string[], env: Record<string, string>}} */ { args, env }) => {
  const output = { stdout: '', stderr: '' };
  const before = { ...process.env };
  Object.assign(process.env, env);
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    process[name].write = (/** @type {any} */ chunk) => {
      output[name] += chunk;
      return true;
    };
  }
  const code = await main(args);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, before);
  process.send?.({ code, signal: null, ...output });
});
process.on('disconnect', () => process.exit());
