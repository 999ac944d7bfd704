/** Child process: receives the options, replies with `{ready: server}` or `{failed: error}`, and exits with its parent. */
import { createDevServer } from './server.js';

/** @import { DevServerOptions } from './server.js' */
/** @import { ChildMessage } from './spawn.js' */

/** @param {ChildMessage} message */
const send = (message) => process.send?.(message);

process.on('disconnect', () => process.exit(0));
// Ctrl-C, `timeout` and a closed terminal signal the whole process group, but the parent needs the server until the run has
// ended. SIGUSR1 would open a debugger.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => {});

process.once('message', async (options) => {
  try {
    const { close: _, ...server } = await createDevServer(/** @type {DevServerOptions} */ (options));
    send({ ready: server });
  } catch (thrown) {
    const error = /** @type {Error} */ (thrown);
    const { name, message, stack } = error;
    send({ failed: { ...error, name, message, stack } });
    process.disconnect();
  }
});
