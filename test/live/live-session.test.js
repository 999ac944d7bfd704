/** What the live thread does, with outputs that remember instead of a terminal, files and servers. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import { createLiveSession } from '../../src/live/live-session.js';
import { checkResult } from '../../src/result/check/check.js';
import { sampleResult } from '../result/sample.js';
import { interval } from './interval.js';
import { MIX, reportAt, startRun } from './running.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */

/** A port of a recorder, as the live thread sees it. */
class Port extends EventEmitter {
  isClosed = false;

  close() {
    this.isClosed = true;
  }
}

/**
 * @param {Partial<LoadPlan>} changes
 * @param {{requirements?: string[], outputs?: ('files' | 'server' | 'pusher')[]}} [options]
 */
function stage(changes, { requirements = [], outputs = ['files', 'server', 'pusher'] } = {}) {
  const run = startRun({ durationMs: 20_000, ...changes }, requirements);
  const updates = new EventEmitter();
  /** @type {string[]} */
  const said = [];
  /** @type {any[]} */
  const documents = [];
  /** @type {any[]} */
  const shown = [];
  /** @type {any[]} */
  const served = [];
  /** Results of runs that are over. @type {any[]} */
  const kept = [];
  /** @type {{settle: () => void}[]} */
  const sendings = [];
  const note = (/** @type {string} */ what) => (/** @type {any} */ value) => {
    said.push(what);
    if (what === 'file') documents.push(value);
    if (what === 'soFar') shown.push(value);
    if (what === 'served') served.push(value);
    updates.emit(what, value);
  };
  /** @type {any} */
  const view = {
    event: (/** @type {{type: string}} */ { type }) => said.push(type),
    soFar: note('soFar'),
    close: note('view closed'),
    settled: async () => {},
  };
  const has = (/** @type {'files' | 'server' | 'pusher'} */ one) => outputs.includes(one);
  const settled = (/** @type {string} */ what) => async () => note(what)(null);
  const session = createLiveSession(
    { mix: MIX, load: run.start.plan.load, command: 'vault-pki-load x' },
    {
      view,
      files: has('files')
        ? {
            write: note('file'),
            stop: settled('files stopped'),
            add: (/** @type {any} */ result) => void kept.push(result),
          }
        : null,
      server: has('server') ? { update: note('served'), close: settled('server closed') } : null,
      pusher: has('pusher')
        ? {
            update: note('pushed'),
            finish: () => new Promise((resolve) => sendings.push({ settle: () => resolve() })),
            close: settled('pusher closed'),
          }
        : null,
    },
  );
  const ports = run.recorders.map(() => new Port());
  function begin() {
    session.event(run.start);
    session.listen(ports);
    session.begin(run.zero);
  }
  /** What the first recorder says of a second. @param {number} second */
  function report(second) {
    ports[0].emit('message', reportAt(run, 0, second * 1000, (second + 1) * 1000));
  }
  return {
    run,
    session,
    ports,
    begin,
    report,
    said,
    documents,
    shown,
    served,
    kept,
    sendings,
    view,
    next: (/** @type {string} */ what) => once(updates, what),
  };
}

const CLOSED = /** @type {const} */ ({ model: 'closed', ratePerSecond: null });

describe('the live session', () => {
  test('publishes an empty result at once, and a full one after each round of reports', async () => {
    const { run, ports, documents, served, said, next, begin } = stage({ threads: 2 });
    begin();
    assert.deepEqual(said, ['start', 'soFar', 'served', 'pushed']);
    assert.equal(served[0].totals.sent, 0);
    assert.deepEqual(documents, [], 'files keep what they hold until something was measured');
    for (const seconds of [1, 3]) {
      const more = next('file');
      for (const [thread, port] of ports.entries()) {
        port.emit('message', reportAt(run, thread, seconds === 1 ? 0 : 1000, seconds * 1000));
      }
      await more;
      const document = /** @type {any} */ (documents.at(-1));
      assert.equal(served.at(-1), document);
      assert.deepEqual([document.totals.sent, document.unfinished], [20 * seconds, true]);
      assert.deepEqual(checkResult(document), []);
    }
    assert.equal(documents.length, 2, 'two threads that report together are one round');
  });

  test('is silent after the run, and reports when the caller may write the files', async () => {
    const { session, ports, said, documents, sendings, next, begin, report } = stage({});
    begin();
    const first = next('file');
    report(0);
    await first;
    report(1);
    await session.finish(sampleResult([]));
    assert.deepEqual(said.slice(-3), ['files stopped', 'result', 'served']);
    assert.ok(ports[0].isClosed);
    report(2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(documents.length, 1);
    sendings[0].settle();
    await session.close();
    assert.deepEqual(said.slice(-4), ['files stopped', 'view closed', 'pusher closed', 'server closed']);
  });

  test('of several runs passes on the finished ones and writes the current one', async () => {
    const { session, documents, kept, next, begin, report } = stage({}, { outputs: ['files'] });
    const first = sampleResult([]);
    await session.finish(first);
    await session.next();
    assert.deepEqual(kept, [first]);
    begin();
    const more = next('file');
    report(0);
    await more;
    assert.deepEqual([documents[0].unfinished, documents[0].totals.sent], [true, 20]);
  });

  test('sends the last result of each run, and delays the next run until it is sent or given up', async () => {
    const { session, said, sendings } = stage({});
    for (const number of [1, 2]) {
      await session.finish(sampleResult([]));
      let isReady = false;
      const ready = session.next().then(() => {
        isReady = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([sendings.length, isReady], [number, false]);
      sendings[number - 1].settle();
      await ready;
    }
    await session.finish(sampleResult([]));
    const closed = session.close();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([sendings.length, said.includes('pusher closed')], [3, false]);
    sendings[2].settle();
    await closed;
    assert.equal(said.filter((what) => what === 'pusher closed').length, 1);
  });

  test('ignores an aborted run', async () => {
    const { session, ports, said, documents, begin, report } = stage({});
    begin();
    report(0);
    await session.abandon();
    assert.deepEqual(said.slice(-2), ['files stopped', 'view closed']);
    assert.ok(ports[0].isClosed);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.deepEqual(documents, []);
  });

  test('continues without drawing after a drawing error, with one warning', async () => {
    const { session, said, documents, view, next, begin, report } = stage({});
    const { event } = view;
    view.event = (/** @type {any} */ one) => {
      event(one);
      if (one.type === 'interval' || one.type === 'result') throw new RangeError('no such column');
    };
    begin();
    for (let i = 0; i < 3; i++) session.event(interval());
    const more = next('file');
    report(0);
    await more;
    assert.equal(documents[0].totals.sent, 20);
    await session.finish(sampleResult([]));
    assert.equal(said.filter((what) => what === 'warning').length, 1);
    session.event({ type: 'warning', text: 'The token could not be renewed.' });
    assert.equal(said.filter((what) => what === 'warning').length, 2, 'what is said is still said');
  });

  test('continues without results if none can be built', async () => {
    const { run, session, said } = stage({});
    session.event({ ...run.start, plan: /** @type {any} */ ({ requirements: [] }) });
    session.begin(run.zero);
    assert.deepEqual(said, ['start', 'warning']);
    session.event(interval());
    await session.finish(sampleResult([]));
    assert.deepEqual(said.slice(2), ['interval', 'files stopped', 'result', 'served']);
  });

  test('builds no result without an output', async () => {
    const { session, said, begin } = stage(CLOSED, { outputs: [] });
    begin();
    session.event(interval());
    assert.deepEqual(said, ['start', 'interval']);
  });

  test('builds results for the view if there are requirements', async () => {
    const { run, session, shown } = stage({}, { outputs: [], requirements: ['p99<1s'] });
    session.event(run.start);
    session.begin(run.zero);
    assert.equal(shown[0].requirements[0].verdict, 'not proven');
  });

  test('closes silently without a run', async () => {
    const { session, said } = stage({});
    await session.close();
    assert.deepEqual(said, ['files stopped', 'view closed', 'pusher closed', 'server closed']);
  });

  test('warns once about a malformed report, and continues', async () => {
    const { session, ports, said, begin } = stage({});
    begin();
    for (const rows of [[], undefined]) {
      ports[0].emit('message', { atMs: 1000, tally: {}, rows, open: null });
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    assert.equal(said.filter((what) => what === 'warning').length, 1);
    await session.finish(sampleResult([]));
    assert.equal(said.at(-1), 'served');
  });
});
