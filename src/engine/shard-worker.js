/** Thread entry: one shard, driven by the calls of shard.js. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadMix } from '../operations/mix.js';
import { createShard } from './shard.js';

/** @import { ShardInput } from './shard.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const STATE_EVERY_MS = 250;

const port = /** @type {MessagePort} */ (parentPort);
/** @param {string} type @param {unknown} [value] */
const post = (type, value) => port.postMessage({ type, value });

/** @type {ShardInput} */
const input = workerData;
/** @type {any} */
const shard = await createShard(input, await loadMix(input.plan), (row) => post('second', row));
// A call that rejects ends this thread, and the main thread receives its error.
port.on('message', async ({ name, parameters }) => post(name, await shard[name](...parameters)));
setInterval(() => post('state', shard.state()), STATE_EVERY_MS);
post('ready');
