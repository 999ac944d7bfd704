/** What the live thread does, with outlets that remember instead of a terminal, files and servers. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import { createStation } from '../../src/live/station.js';
import { checkResult } from '../../src/results/check.js';
import { isRunSet } from '../../src/results/document.js';
import { sampleResult } from '../results/sample.js';
import { interval } from './interval.js';
import { OPERATION, reportAt, startRun } from './running.js';

/** A port of a recorder, as the live thread sees it. */
class Port extends EventEmitter {
  isClosed = false;

  close() {
    this.isClosed = true;
  }
}

/**
 * @param {Partial<import('../../src/plan.js').LoadPlan>} changes
 * @param {{requirements?: string[], runs?: number, outlets?: ('files' | 'server' | 'pusher')[]}} [options]
 */
function stage(changes, { requirements = [], runs = 1, outlets = ['files', 'server', 'pusher'] } = {}) {
  const run = startRun({ durationMs: 20_000, ...changes }, requirements);
  const updates = new EventEmitter();
  /** @type {string[]} */
  const said = [];
  /** @type {any[]} */
  const documents = [];
  /** @type {any[]} */
  const shown = [];
  const note = (/** @type {string} */ what) => (/** @type {any} */ value) => {
    said.push(what);
    if (what === 'file') documents.push(value);
    if (what === 'soFar') shown.push(value);
    updates.emit(what, value);
  };
  /** @type {any} */
  const view = {
    event: (/** @type {{type: string}} */ { type }) => said.push(type),
    soFar: note('soFar'),
    close: note('view closed'),
    settled: async () => {},
  };
  const has = (/** @type {'files' | 'server' | 'pusher'} */ one) => outlets.includes(one);
  const settled = (/** @type {string} */ what) => async () => note(what)(null);
  const station = createStation(
    { operation: OPERATION, load: run.start.plan.load, command: 'vault-pki-load x', runs },
    {
      view,
      files: has('files') ? { write: note('file'), stop: settled('files stopped'), resume() {} } : null,
      server: has('server') ? { update: note('served'), close: settled('server closed') } : null,
      pusher: has('pusher') ? { update: note('pushed'), close: settled('pushed last') } : null,
    },
  );
  const ports = run.recorders.map(() => new Port());
  return {
    run,
    station,
    ports,
    said,
    documents,
    shown,
    next: (/** @type {string} */ what) => once(updates, what),
  };
}

const CLOSED = /** @type {const} */ ({ model: 'closed', ratePerSecond: null });

describe('the station', () => {
  test('publishes an empty result at once, and one after each round of reports', async () => {
    const { run, station, ports, documents, said, next } = stage({ threads: 2 });
    station.event(run.start);
    station.listen(ports);
    const first = next('file');
    station.begin(run.zero);
    await first;
    assert.equal(documents[0].totals.sent, 0);
    assert.deepEqual(said.slice(0, 4), ['start', 'soFar', 'served', 'pushed']);
    for (const seconds of [1, 3]) {
      const more = next('file');
      for (const [thread, port] of ports.entries()) {
        port.emit('message', reportAt(run, thread, seconds === 1 ? 0 : 1000, seconds * 1000));
      }
      await more;
      const document = documents.at(-1);
      assert.deepEqual([document.totals.sent, document.unfinished], [20 * seconds, true]);
      assert.deepEqual(checkResult(document), []);
    }
    assert.equal(documents.length, 3, 'two threads that report together are one round');
  });

  test('is silent once the run is over, and says who may write the files then', async () => {
    const { run, station, ports, said, documents, next } = stage({});
    station.event(run.start);
    station.listen(ports);
    const first = next('file');
    station.begin(run.zero);
    await first;
    ports[0].emit('message', reportAt(run, 0, 0, 1000));
    const result = sampleResult([]);
    await station.finish(result);
    assert.deepEqual(said.slice(-4), ['files stopped', 'result', 'served', 'pushed']);
    assert.ok(ports[0].isClosed);
    ports[0].emit('message', reportAt(run, 0, 1000, 2000));
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(documents.length, 1);
    await station.close();
    assert.deepEqual(said.slice(-4), ['files stopped', 'view closed', 'pushed last', 'server closed']);
  });

  test('several runs are a set: those that are over, and the one that goes on', async () => {
    const { run, station, documents, next } = stage({}, { runs: 3 });
    const first = sampleResult([]);
    station.event(run.start);
    station.begin(run.zero);
    while (documents.length < 1) await next('file');
    await station.finish(first);
    station.event(run.start);
    station.begin(run.zero);
    while (documents.length < 2) await next('file');
    const document = documents.at(-1);
    assert.ok(isRunSet(document));
    assert.equal(document.runs.length, 2);
    assert.equal(document.runs[0], first);
    assert.equal(document.runs[1].unfinished, true);
  });

  test('makes no result that nobody wants', async () => {
    const { run, station, ports, said } = stage(CLOSED, { outlets: [] });
    station.event(run.start);
    station.listen(ports);
    station.begin(run.zero);
    station.event(interval());
    assert.deepEqual(said, ['start', 'interval']);
  });

  test('but one for the view where there are requirements', async () => {
    const { run, station, shown } = stage({}, { outlets: [], requirements: ['p99<1s'] });
    station.event(run.start);
    station.begin(run.zero);
    assert.equal(shown[0].requirements[0].verdict, 'not proven');
  });

  test('ends without a word where no run had begun', async () => {
    const { station, said } = stage({});
    await station.close();
    assert.deepEqual(said, ['files stopped', 'view closed', 'server closed']);
  });

  test('warns once where it cannot make sense of what is reported, and goes on', async () => {
    const { run, station, ports, said } = stage({});
    station.event(run.start);
    station.listen(ports);
    station.begin(run.zero);
    for (let i = 0; i < 2; i++) {
      ports[0].emit('message', { atMs: 1000, snapshot: {}, rows: [], open: null });
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    assert.equal(said.filter((what) => what === 'warning').length, 1);
    await station.finish(sampleResult([]));
    assert.equal(said.at(-1), 'pushed');
  });
});
