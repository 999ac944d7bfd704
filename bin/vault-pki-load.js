#!/usr/bin/env node
// Otherwise Node.js would open its debugger, where every user of this machine could read the token.
process.on('SIGUSR1', () => {});
try {
  const { main } = await import('../src/cli/main.js');
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Only loading the program can fail here. With too few file descriptors, Node.js may report a missing package.
  const { message } = /** @type {Error} */ (error);
  const remedy = 'Install it again, or allow more open files (ulimit -n).';
  process.stderr.write(`vault-pki-load: The program cannot be loaded: ${message}. ${remedy}\n`);
  process.exitCode = 1;
}
