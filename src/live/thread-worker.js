/**
 * Thread entry: shows progress, rewrites the files, serves and pushes metrics. Recorders report to it directly.
 * Messages in: calls of LiveSession's methods; out: `{done: 'ready'}` or `{error}`, then `{done}` with the name of each method that
 * has ended, except for events.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../common/errors.js';
import { loadMix } from '../operations/mix.js';
import { createLiveSession } from './live-session.js';
import { createWriter } from './terminal.js';
import { createView, warmUpDrawing } from './view.js';

/** @import { LiveOptions } from './thread.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const STDERR = 2;

const port = /** @type {MessagePort} */ (parentPort);
/** @type {LiveOptions} */
const { command, runs, plan, outs, metrics, otlp, terminal, quiet } = workerData;

yieldToOthers();
const view = createView({ ...createWriter(STDERR), terminal, quiet });
const onWarning = (/** @type {string} */ text) => view.event({ type: 'warning', text });
const onNotice = (/** @type {string} */ text) => view.event({ type: 'notice', text });

try {
  const mix = await loadMix(plan);
  const files = outs.length === 0 ? null : await openFiles();
  const server = metrics === null ? null : await serveMetrics(metrics);
  const pusher =
    otlp === null ? null : (await import('./otlp.js')).createOtlpPusher({ url: otlp, onWarning, onNotice });
  if (!quiet) warmUpDrawing(terminal);
  /** @type {Record<string, (...args: any[]) => unknown>} */
  const session = createLiveSession({ mix, load: plan.load, command }, { view, files, server, pusher });
  port.on('message', async ({ method, args }) => {
    await session[method](...args);
    if (method !== 'event') port.postMessage({ done: method });
  });
  port.postMessage({ done: 'ready' });
} catch (error) {
  port.postMessage({ error: packError(error) });
}

async function openFiles() {
  const { createFiles } = await import('./files.js');
  const files = createFiles(outs, { onWarning, setName: runs > 1 ? plan.operation : null });
  await files.prepare();
  return files;
}

/** @param {{host: string, port: number}} where */
async function serveMetrics(where) {
  const { createMetricsServer } = await import('./metrics-server.js');
  const server = await createMetricsServer(where);
  const text = `Metrics are served at http://${server.address}/metrics.`;
  // With port 0 this line is the only way to learn the port.
  if (where.port === 0) view.say(text);
  else onNotice(text);
  return server;
}

/** Lowers this thread's priority below that of senders and recorders (nice 10 of 19). Only Linux has priorities per thread. */
function yieldToOthers() {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not permitted: it has little to do anyway.
  }
}
