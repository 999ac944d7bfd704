/**
 * Thread entry: shows progress, rewrites the files, serves and pushes metrics. Recorders report to it directly.
 * Messages in: see Order in thread.js; out: `ready` or `failed`, then the reply to each order that has one.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../common/errors.js';
import { loadMix } from '../operations/mix.js';
import { createWriter } from './descriptor.js';
import { createCollector } from './garbage.js';
import { createLiveSession } from './live-session.js';
import { createView, warmUpDrawing } from './view.js';

/** @import { LiveOptions, Order } from './thread.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const STDERR = 2;

const port = /** @type {MessagePort} */ (parentPort);
/** @type {LiveOptions} */
const { command, runs, plan, outs, metrics, otlp, terminal, quiet } = workerData;

yieldToOthers();
const collect = createCollector();
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
  obeyWith(
    createLiveSession({ mix, load: plan.load, command, runs, collect }, { view, files, server, pusher }),
  );
  port.postMessage({ type: 'ready' });
} catch (error) {
  port.postMessage({ type: 'failed', error: packError(error) });
}

/** @param {ReturnType<typeof createLiveSession>} session */
function obeyWith(session) {
  port.on('message', async (/** @type {Order} */ order) => {
    if (order.type === 'event') return session.event(order.event);
    if (order.type === 'resize') return view.resize(order.columns, order.rows);
    if (order.type === 'ports') return session.listen(order.ports);
    if (order.type === 'begin') return session.begin(order.zero);
    if (order.type === 'finish') await session.finish(order.result);
    else if (order.type === 'abandon') await session.abandon();
    else if (order.type === 'close') await session.close();
    else {
      const { summary, plan: other } = order;
      await session.next(summary, other === null ? null : { mix: await loadMix(other), load: other.load });
    }
    port.postMessage({ type: order.type });
  });
}

async function openFiles() {
  const { createFiles } = await import('./files.js');
  const files = createFiles(outs, { onWarning, collect, setName: runs > 1 ? plan.operation : null });
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
