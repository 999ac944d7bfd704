/**
 * Entry of the forked process. It receives the options, and sends back `{ready: server}` or `{failed: error}`. It ends
 * with the parent: the IPC channel closes however the parent dies.
 */
import { createDevServer } from './server.js';

/** @import { DevServerOptions } from './server.js' */
/** @import { ChildMessage } from './spawn.js' */

/** @param {ChildMessage} message */
const send = (message) => process.send?.(message);

process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group, but the parent needs the server until its run has ended.
process.on('SIGINT', () => {});

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
