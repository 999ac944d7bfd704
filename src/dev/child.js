/**
 * Entry of the forked process. The first message is the options; it sends back `{ready: server}` or `{failed: error}`. It
 * ends when the parent does: the IPC channel closes however the parent died.
 */
import { PkiLoadError } from '../common/errors.js';
import { createDevServer } from './server.js';

/** @import { DevServerOptions } from './server.js' */
/** @import { ChildMessage } from './spawn.js' */

/** @param {ChildMessage} message */
const send = (message) => process.send?.(message);

process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group, but the parent still needs the server to finish its run.
process.on('SIGINT', () => {});

process.once('message', async (options) => {
  try {
    const { close: _, ...server } = await createDevServer(/** @type {DevServerOptions} */ (options));
    send({ ready: server });
  } catch (error) {
    const { code, remedy } =
      error instanceof PkiLoadError ? error : { code: 'dev_server_failed', remedy: undefined };
    send({ failed: { code, message: /** @type {Error} */ (error).message, remedy } });
    process.disconnect();
  }
});
