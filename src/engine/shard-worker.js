/** Thread entry: one shard, driven by messages from threads.js. */
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../common/errors.js';
import { createShard } from './shard.js';

/** @import { ShardInput } from './shard.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const STATE_EVERY_MS = 250;

const port = /** @type {MessagePort} */ (parentPort);
/** @param {string} type @param {unknown} [value] */
const post = (type, value) => port.postMessage({ type, value });

/** @type {{input: ShardInput, livePort: MessagePort | null}} */
const { input, livePort } = workerData;
const shard = await createShard(input, { onSecond: (row) => post('second', row), livePort });
const reporting = setInterval(() => post('state', shard.state()), STATE_EVERY_MS);

shard.ended.then(
  (end) => {
    clearInterval(reporting);
    post('state', shard.state());
    post('ended', end);
  },
  (error) => post('error', packError(error)),
);

port.on('message', (message) => {
  if (message.type === 'warm') {
    shard.warm().then(
      (problems) => post('warm', problems),
      (error) => post('error', packError(error)),
    );
  } else if (message.type === 'start') shard.start(message.originNs);
  else if (message.type === 'stop') shard.stop();
  else shard.cutOff();
});
post('ready');
