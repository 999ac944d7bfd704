/** Several runs, one after the other, without any: what is written when, by whom, and what the exit code is. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { runRepeatedly } from '../../src/cli/live-session.js';
import { PkiLoadError, usageError } from '../../src/common/errors.js';
import { runOf } from '../result/runs.js';
import { scratch } from './support.js';

/** @import { Result } from '../../src/result/schema.js' */

/** @type {Result['requirements'][number]} */
const NOT_MET = {
  text: 'p99<1ms',
  verdict: 'not met',
  actual: 2,
  limit: 1,
  unit: 'ms',
  reason: 'It was more.',
};
const MET = runOf(1, 0);
const FAILED = runOf(1, 0, { requirements: [NOT_MET] });
/** @type {Result['measurement']} */
const INVALID = { verdict: 'invalid', reasons: [] };
const INTERRUPTED = runOf(1, 0, { interrupted: true });

const CANNOT_WRITE = usageError(
  'cannot_write',
  '--out r.json cannot be written: the disk is full.',
  'Free some.',
);

/**
 * @param {(Result | Error)[]} runs what each of them gives
 * @param {{out?: string[], failures?: unknown[], stop?: AbortController, broken?: AbortSignal, pauseMs?: number, onNext?: () => Promise<void>, stopAfter?: number}} [options]
 */
function stage(
  runs,
  {
    out = [],
    failures = [],
    stop = new AbortController(),
    broken,
    pauseMs = 0,
    onNext = async () => {},
    stopAfter,
  } = {},
) {
  /** @type {string[]} */
  const did = [];
  /** @type {any[]} */
  const reported = [];
  const note = (/** @type {string} */ what) => async () => void did.push(what);
  const code = runRepeatedly({
    name: 'ocsp',
    settings: {
      command: '',
      search: null,
      join: null,
      out,
      partFiles: [],
      format: 'json',
      quiet: false,
      summary: null,
      metrics: null,
      otlp: null,
      repeat: runs.length,
      pauseMs,
    },
    async runOnce(number) {
      did.push(`run ${number}`);
      if (number === stopAfter) stop.abort();
      const given = runs[number];
      if (given instanceof Error) throw given;
      return given;
    },
    live: {
      event: (event) => did.push(event.type),
      warn: (text) => did.push(`warning: ${text}`),
      finish: note('finish'),
      async next() {
        did.push('next');
        await onNext();
      },
      abandon: note('abandon'),
    },
    stop: stop.signal,
    broken,
    async reportTo(document) {
      did.push('report');
      reported.push(document);
      return failures;
    },
  });
  return { code, did, reported };
}

test('a lost part of a joined run ends the pause; what was measured is reported', {
  timeout: 10_000,
}, async () => {
  const lost = new PkiLoadError('part_lost', 'Part 1 of 2 was lost.');
  const broken = new AbortController();
  const given = { pauseMs: 3_600_000, broken: broken.signal, onNext: async () => broken.abort() };
  const { code, did, reported } = stage([MET, lost], given);
  await assert.rejects(code, lost);
  assert.deepEqual(
    did.filter((what) => /^run|report/.test(what)),
    ['run 0', 'run 1', 'report'],
  );
  assert.equal(reported[0].runs.length, 1);
});

test('finishes a single run, then reports it', async () => {
  const { code, did, reported } = stage([MET]);
  assert.equal(await code, 0);
  assert.deepEqual(did, ['run 0', 'finish', 'report']);
  assert.equal(reported[0], MET);
});

test('writes the set between runs, and waits for the live view before the next run', async (t) => {
  const json = scratch(t)('r.json');
  /** @type {number[]} */
  const sizes = [];
  const { code, did } = stage([MET, MET, FAILED], {
    out: [json],
    async onNext() {
      sizes.push(JSON.parse(readFileSync(json, 'utf8')).runs.length);
    },
  });
  assert.equal(await code, 99, 'that of the worst');
  const one = ['notice', 'run 0', 'finish'];
  assert.deepEqual(did, [...one, 'next', ...one.with(1, 'run 1'), 'next', ...one.with(1, 'run 2'), 'report']);
  assert.deepEqual(sizes, [1, 2]);
});

test('a stop does not wait for the last metrics of a run', async () => {
  const stop = new AbortController();
  const { code, reported } = stage([MET, MET], {
    stop,
    onNext: () => {
      setImmediate(() => stop.abort());
      return new Promise(() => {});
    },
  });
  assert.equal(await code, 130);
  assert.equal(reported[0].runs.length, 1);
  assert.equal(reported[0].planned, 2);
  assert.deepEqual(reported[0].summary.warnings, ['Only 1 of 2 runs ended.']);
});

test('ends with an interrupted run', async () => {
  const { code, did } = stage([MET, INTERRUPTED, MET], { stopAfter: 1 });
  assert.equal(await code, 130);
  assert.deepEqual(did.slice(-3), ['run 1', 'finish', 'report']);
});

describe('a run that fails', () => {
  const broken = new PkiLoadError('thread_lost', 'A recorder died.');

  test('is abandoned by the live view before the others are reported', async () => {
    const { code, did, reported } = stage([MET, broken, MET], { failures: [CANNOT_WRITE] });
    await assert.rejects(code, broken);
    assert.deepEqual(did.slice(-4), ['run 1', 'abandon', 'report', `warning: ${CANNOT_WRITE.full}`]);
    assert.equal(reported[0].runs.length, 1);
  });

  test('first leaves nothing to report', async () => {
    const { code, did } = stage([broken, MET]);
    await assert.rejects(code, broken);
    assert.deepEqual(did, ['notice', 'run 0']);
  });
});

describe('an output that cannot be written', () => {
  /** @type {[string, Result, number][]} */
  const TABLE = [
    ['changes exit code 0 to 1', MET, 1],
    ['does not hide a missed requirement', FAILED, 99],
    ['does not hide an interruption', INTERRUPTED, 130],
    [
      'does not hide an invalid measurement',
      runOf(1, 0, { measurement: INVALID, requirements: [NOT_MET] }),
      98,
    ],
  ];
  for (const [what, result, exitCode] of TABLE) {
    test(what, async () => {
      const { message, remedy, code } = CANNOT_WRITE;
      await assert.rejects(stage([result], { failures: [CANNOT_WRITE] }).code, {
        exitCode,
        message,
        remedy,
        code,
      });
    });
  }

  test('is reported for each output', async () => {
    const other = usageError('cannot_write', '--out r.md cannot be written: it is a directory.');
    const { code, did } = stage([MET], { failures: [CANNOT_WRITE, other] });
    await assert.rejects(code, CANNOT_WRITE);
    assert.equal(did.at(-1), 'warning: --out r.md cannot be written: it is a directory.');
  });

  test('between runs is retried, not reported', async (t) => {
    const gone = `${scratch(t)('nope')}/r.json`;
    const { code, did } = stage([MET, MET], { out: [gone] });
    assert.equal(await code, 0);
    assert.ok(!existsSync(gone) && did.every((what) => !what.startsWith('warning')));
  });
});
