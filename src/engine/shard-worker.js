/** Thread entry: one shard, driven by the calls of shard.js. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadMix } from '../operations/mix.js';
import { createShard } from './shard.js';

const STATE_EVERY_MS = 250;

/** @param {string} type @param {unknown} [value] */
const post = (type, value) => parentPort?.postMessage({ type, value });

/** @type {any} */
const shard = await createShard(workerData, await loadMix(workerData.plan), (row) => post('second', row));
// A call that rejects ends this thread, and the main thread receives its error.
parentPort?.on('message', async ({ name, parameters }) => post(name, await shard[name](...parameters)));
setInterval(() => post('state', shard.state()), STATE_EVERY_MS);
post('ready');
