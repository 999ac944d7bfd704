/** Who shows how a run goes, and who does where that is lost. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startLiveSession } from '../../src/cli/live-session.js';
import { interval } from '../live/interval.js';

/** @import { RunSettings } from '../../src/cli/operation.js' */

/** @type {any} */
const PLAN = { operation: 'ocsp', load: {}, requirements: [] };

/** @type {RunSettings} */
const SETTINGS = {
  command: 'vault-pki-load ocsp',
  search: null,
  join: null,
  out: [],
  partFiles: [],
  format: 'text',
  quiet: false,
  summary: null,
  metrics: null,
  otlp: null,
  repeat: 1,
  pauseMs: 0,
};

/** @type {any} */
const INTERRUPT = { attach() {}, onNextSignal() {}, cutOff: new AbortController().signal };

/** @param {Partial<typeof SETTINGS>} [changes] */
async function stage(changes = {}, hasStalled = false) {
  let written = '';
  /** @type {any} */
  const stderr = {
    write(/** @type {string} */ text) {
      written += text;
    },
    on() {},
    off() {},
  };
  /** @type {any[]} */
  const posted = [];
  /** @type {any[]} */
  const asked = [];
  /** @type {(error: Error) => void} */
  let lose = () => {};
  let failed = 0;
  const live = await startLiveSession(PLAN, { ...SETTINGS, ...changes }, INTERRUPT, {
    stderr,
    env: {},
    fail: () => failed++,
    start: async (options, onLost) => {
      asked.push(options);
      lose = onLost;
      return /** @type {any} */ ({
        event: (/** @type {any} */ event) => posted.push(event),
        close: async () => {},
        hasStalled: () => hasStalled,
      });
    },
  });
  return {
    failed: () => failed,
    live,
    posted,
    asked,
    lose: (/** @type {Error} */ error) => lose(error),
    shown: () => written,
  };
}

test('an output that could not be written fails the command', async () => {
  const { live, failed } = await stage();
  live.event({ type: 'notice', text: 'Kept 3.', isFailure: false });
  live.event({ type: 'warning', text: 'Slow.' });
  assert.equal(failed(), 0);
  live.event({ type: 'warning', text: 'The disk is full.', isFailure: true });
  assert.equal(failed(), 1);
});

/** @type {{type: 'warning', text: string}} */
const WARNING = { type: 'warning', text: 'The token could not be renewed.' };

describe('if the thread is lost', () => {
  test('warns, then prints plain lines', async () => {
    const { live, posted, lose, shown } = await stage();
    live.event(interval());
    assert.deepEqual([posted.length, shown()], [1, '']);
    lose(new Error('no such column'));
    const flat = () => shown().replaceAll(/\s+/g, ' ');
    assert.match(
      flat(),
      /^Warning: Progress, files and metrics .*\(no such column\)\. The run continues, and writes its result at the end\./,
    );
    live.event(WARNING);
    live.event({ type: 'warning', text: 'Interrupted: waiting for the last responses.' });
    live.event(interval());
    assert.match(
      shown(),
      /\nWarning: The token could not be renewed\.\nWarning: Interrupted: waiting[^\n]+\n\d+ s/,
    );
    assert.equal(posted.length, 1);
  });

  test('with --quiet, warnings only', async () => {
    const { live, lose, shown } = await stage({ quiet: true, out: ['r.json'] });
    lose(new Error('x'));
    live.event(interval());
    live.event(WARNING);
    assert.match(shown(), /at the end\.\nWarning: The token could not be renewed\.\n$/);
  });
});

for (const hasStalled of [true, false]) {
  test(`warns at the end ${hasStalled ? '' : 'not '}of a thread that did not respond`, async () => {
    const { live, shown } = await stage({}, hasStalled);
    await live.close();
    const text = 'Warning: The live view did not respond in time and was ended.';
    assert.equal(shown().startsWith(text), hasStalled);
  });
}

test('starts no thread for warnings only', async () => {
  const { live, asked, shown } = await stage({ quiet: true });
  live.event(interval());
  live.event(WARNING);
  assert.deepEqual([asked, shown()], [[], 'Warning: The token could not be renewed.\n']);
  await live.close();
});

describe('files rewritten during a run', () => {
  const out = ['r.html', 'r.json', 'r.JSON', 'r.md'];

  test('all files for a single run', async () => {
    const { asked } = await stage({ out });
    assert.deepEqual(asked[0].outs, out);
  });

  test('only JSON for several runs', async () => {
    const { asked } = await stage({ out, repeat: 2 });
    assert.deepEqual([asked[0].outs, asked[0].runs], [['r.json', 'r.JSON'], 2]);
  });
});
