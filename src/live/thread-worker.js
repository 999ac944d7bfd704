/**
 * Thread entry: shows progress, rewrites the files, serves and pushes metrics. Recorders report to it directly.
 * Messages in: see Order in thread.js; out: `ready` or `failed`, then the reply to each order that has one.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../common/errors.js';
import { loadMix } from '../operations/mix.js';
import { createWriter } from './descriptor.js';
import { createFiles, createSetFiles } from './files.js';
import { createLiveSession } from './live-session.js';
import { createView } from './view.js';
import { warmUp } from './warm-up.js';

/** @import { LiveOptions, Order } from './thread.js' */
/** @import { MessagePort } from 'node:worker_threads' */

const STDERR = 2;

const port = /** @type {MessagePort} */ (parentPort);
/** @type {LiveOptions} */
const options = workerData;

yieldToOthers();
const view = createView({
  ...createWriter(STDERR),
  terminal: options.terminal,
  quiet: options.quiet,
});
const warn = (/** @type {string} */ text) => view.event({ type: 'warning', text });

try {
  const { command, runs, plan, outs } = options;
  const mix = await loadMix(plan);
  const set = runs > 1 && outs.length > 0 ? await startSet(plan.operation) : null;
  const files = openFiles(outs, set);
  await files?.prepare();
  const server = await serveMetrics(options.metrics);
  const pusher = await startPushing(options.otlp);
  await Promise.all([view.isReady, options.quiet ? null : warmUp(options.terminal)]);
  obeyWith(createLiveSession({ mix, load: plan.load, command, runs, set }, { view, files, server, pusher }));
  port.postMessage({ type: 'ready' });
} catch (error) {
  port.postMessage({ type: 'failed', error: packError(error) });
}

/** @param {ReturnType<typeof createLiveSession>} session */
function obeyWith(session) {
  const reply = (/** @type {string} */ type) => () => port.postMessage({ type });
  port.on('message', (/** @type {Order} */ order) => {
    if (order.type === 'event') session.event(order.event);
    else if (order.type === 'resize') view.resize(order.columns, order.rows);
    else if (order.type === 'ports') session.listen(order.ports);
    else if (order.type === 'begin') session.begin(order.zero);
    else if (order.type === 'finish') session.finish(order.result).then(reply('finished'));
    else if (order.type === 'next') goOn(session, order).then(reply('ready for next'));
    else if (order.type === 'abandon') session.abandon().then(reply('abandoned'));
    else session.close().then(reply('closed'));
  });
}

/** @param {ReturnType<typeof createLiveSession>} session @param {Extract<Order, {type: 'next'}>} order */
async function goOn(session, { summary, plan }) {
  await session.next(summary, plan === null ? null : { mix: await loadMix(plan), load: plan.load });
}

/** @param {string} name of the set */
async function startSet(name) {
  const { createSetText } = await import('./set-text.js');
  return createSetText(name);
}

/** @param {string[]} outs @param {Awaited<ReturnType<typeof startSet>> | null} set */
function openFiles(outs, set) {
  if (outs.length === 0) return null;
  const context = { onWarning: warn };
  return set === null ? createFiles(outs, context) : createSetFiles(outs, set, context);
}

/** @param {{host: string, port: number} | null} where */
async function serveMetrics(where) {
  if (where === null) return null;
  const { createMetricsServer } = await import('./metrics-server.js');
  const server = await createMetricsServer(where);
  const text = `Metrics are served at http://${server.address}/metrics.`;
  // With port 0 this line is the only way to learn the port.
  if (where.port === 0) view.say(text);
  else view.event({ type: 'notice', text });
  return server;
}

/** @param {string | null} url */
async function startPushing(url) {
  if (url === null) return null;
  const { createOtlpPusher } = await import('./otlp.js');
  return createOtlpPusher({
    url,
    onWarning: warn,
    onNotice: (text) => view.event({ type: 'notice', text }),
  });
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
