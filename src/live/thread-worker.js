/**
 * Thread entry: shows progress, rewrites the files, serves and pushes metrics. Messages in: calls of
 * LiveSession's methods; out: `{type: 'ready'}`, then a reply to each call that requests one.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { redactToken } from '../common/sanitize.js';
import { loadMix } from '../operations/mix.js';
import { createLiveSession } from './live-session.js';
import { createWriter } from './terminal.js';
import { createView, warmUpDrawing } from './view.js';

/** @import { LiveOptions } from './thread.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const STDERR = 2;

const port = /** @type {MessagePort} */ (parentPort);
/** @type {LiveOptions & {tokens: readonly string[]}} */
const { command, runs, plan, outs, metrics, otlp, terminal, quiet, tokens } = workerData;
tokens.forEach(redactToken);

// Gives way to senders and recorders (nice 10 of 19). Only Linux has priorities per thread.
if (process.platform === 'linux') {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not permitted.
  }
}
const view = createView({ ...createWriter(STDERR), terminal, quiet });
const onWarning = (/** @type {string} */ text) => view.event({ type: 'warning', text });
const onNotice = (/** @type {string} */ text) => view.event({ type: 'notice', text });

const setName = runs > 1 ? plan.operation : null;
const files =
  outs.length === 0 ? null : (await import('./files.js')).createFiles(outs, { onWarning, setName, runs });
await files?.prepare();
const server = metrics === null ? null : await serveMetrics(metrics);
const pusher =
  otlp === null ? null : (await import('./otlp.js')).createOtlpPusher({ url: otlp, onWarning, onNotice });
const outputs = { view, files, server, pusher };
/** @type {Record<string, (...args: any[]) => unknown>} */
const session = createLiveSession({ mix: await loadMix(plan), load: plan.load, command }, outputs);
if (!quiet) warmUpDrawing(terminal);
port.on('message', async ({ method, args, reply }) => {
  await session[method](...args);
  if (reply !== undefined) port.postMessage({ type: reply });
});
port.postMessage({ type: 'ready' });

/** @param {{host: string, port: number}} where */
async function serveMetrics(where) {
  const { createMetricsServer } = await import('./metrics-server.js');
  const server = await createMetricsServer(where);
  const text = `Metrics are served at http://${server.address}/metrics.`;
  // With port 0 this line is the only way to learn the port.
  if (where.port === 0) view.print(text);
  else view.event({ type: 'notice', text });
  return server;
}
