/**
 * Thread entry: shows how a run goes, rewrites its files, serves and pushes its metrics. Recorders report to it directly.
 * Messages in: see Order in thread.js; out: `ready` or `failed`, then the answer to each order that has one.
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

const STDERR = 2;

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
/** @type {import('./thread.js').LiveOptions} */
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

/** @param {ReturnType<typeof createLiveSession>} station */
function obeyWith(station) {
  const say = (/** @type {string} */ type) => () => port.postMessage({ type });
  port.on('message', (/** @type {import('./thread.js').Order} */ order) => {
    if (order.type === 'event') station.event(order.event);
    else if (order.type === 'resize') view.resize(order.columns, order.rows);
    else if (order.type === 'ports') station.listen(order.ports);
    else if (order.type === 'begin') station.begin(order.zero);
    else if (order.type === 'finish') station.finish(order.result).then(say('finished'));
    else if (order.type === 'next') goOn(station, order).then(say('ready for next'));
    else if (order.type === 'abandon') station.abandon().then(say('abandoned'));
    else station.close().then(say('closed'));
  });
}

/**
 * @param {ReturnType<typeof createLiveSession>} station
 * @param {Extract<import('./thread.js').Order, {type: 'next'}>} order
 */
async function goOn(station, { summary, plan }) {
  await station.next(summary, plan === null ? null : { mix: await loadMix(plan), load: plan.load });
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
  // Whoever takes any port has no other way to learn which.
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

/**
 * Whenever a sender or a recorder is ready to run, this thread can wait: its priority is below theirs (nice 10 of 19). On Linux
 * a thread has one of its own; elsewhere it would be the whole process's.
 */
function yieldToOthers() {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // As it is then: it has little to do.
  }
}
