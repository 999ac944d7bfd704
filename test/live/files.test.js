import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFiles } from '../../src/live/files.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { scratch } from '../cli/support.js';
import { runOf } from '../result/runs.js';
import { sampleResult } from '../result/sample.js';

/** Files whose writing a test brings to its end. @param {string[]} paths @param {string | null} [setName] */
function stage(paths, setName = null) {
  const clock = { ms: 0 };
  /** @type {string[]} */
  const warnings = [];
  /** @type {{path: string, document: any, settle: (error?: Error) => void}[]} */
  const under = [];
  const files = createFiles(paths, {
    onWarning: (text) => warnings.push(text),
    setName,
    now: () => clock.ms,
    write: (path, document) =>
      new Promise((resolve, reject) => {
        under.push({ path, document, settle: (error) => (error === undefined ? resolve() : reject(error)) });
      }),
  });
  /** @param {number} i @param {number} [tookMs] @param {Error} [error] */
  async function settle(i, tookMs = 1, error) {
    clock.ms += tookMs;
    under[i].settle(error);
    for (let turns = 0; turns < 5; turns++) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { files, clock, warnings, under, settle };
}

describe('files during a run', () => {
  const document = sampleResult([]);

  test('are written one at a time, never concurrently', async () => {
    const { files, clock, under, settle } = stage(['a.json', 'b.txt']);
    files.write(document);
    clock.ms += 2000;
    files.write(document);
    assert.deepEqual(
      under.map(({ path }) => path),
      ['a.json'],
    );
    await settle(0);
    await settle(1);
    clock.ms += 30_000;
    files.write(document);
    assert.deepEqual(
      under.map(({ path }) => path),
      ['a.json', 'b.txt', 'a.json'],
    );
  });

  for (const { tookMs, nextMs, what } of [
    { tookMs: 100, nextMs: 1000, what: 'a tenth of the time' },
    { tookMs: 1000, nextMs: 3000, what: 'more, so that they stay fresh' },
    { tookMs: 4000, nextMs: 8000, what: 'but no more than half' },
  ]) {
    test(`that take ${tookMs} ms take ${what}`, async () => {
      const { files, clock, under, settle } = stage(['a.json']);
      files.write(document);
      await settle(0, tookMs);
      clock.ms = nextMs - 1;
      files.write(document);
      assert.equal(under.length, 1);
      clock.ms = nextMs;
      files.write(document);
      assert.equal(under.length, 2);
    });
  }

  test('are written with the newest result as soon as the pause ends', async () => {
    const { files, clock, under, settle } = stage(['a.json']);
    files.write(document);
    const [older, newest] = [
      sampleResult([], { durationSeconds: 1 }),
      sampleResult([], { durationSeconds: 2 }),
    ];
    files.write(older);
    files.write(newest);
    await settle(0, 0);
    assert.equal(under.length, 2);
    assert.deepEqual(under[1].document, newest);
    await settle(1, 1);
    clock.ms += 60_000;
    files.write(older);
    assert.deepEqual(under[2].document, older);
  });

  test('that cannot be written cause one warning and are retried; the others are written', async () => {
    const { files, clock, warnings, under, settle } = stage(['a.json', 'b.txt']);
    for (let round = 0; round < 3; round++) {
      files.write(document);
      await settle(2 * round, 1, Object.assign(new Error('no space'), { code: 'ENOSPC' }));
      await settle(2 * round + 1);
      clock.ms += 2000;
    }
    assert.equal(under.length, 6);
    assert.deepEqual(warnings, [
      '--out a.json cannot be written: the disk is full. Retrying during the run. Free some space, or use a file on another disk.',
    ]);
  });

  test('are not written while stopped, and are again in the next run', async () => {
    const { files, under, settle } = stage(['a.json', 'b.txt']);
    files.write(document);
    let isStopped = false;
    const stopped = files.stop().then(() => {
      isStopped = true;
    });
    await Promise.resolve();
    assert.equal(isStopped, false, 'what was begun is waited for');
    await settle(0);
    await stopped;
    assert.equal(under.length, 1, 'what was not is left out');
    files.write(document);
    assert.equal(under.length, 2);
  });

  test('of several runs contain the whole set, the current run last', async () => {
    const { files, under } = stage(['a.json'], 'a set');
    const over = [runOf(1, 0), runOf(0.9, 1, { interrupted: true })];
    for (const run of over) files.add(run);
    const current = runOf(1, 2, { unfinished: true });
    files.write(current);
    assert.deepEqual(under[0].document, createRunSet('a set', [...over, current]));
    assert.deepEqual(under[0].document.summary.used, ['run 1']);
  });

  test('are complete results in their formats; pipes and devices are left to the end', async (t) => {
    const path = scratch(t);
    const paths = [path('r.json'), path('r.txt'), '/dev/null'];
    const files = createFiles(paths, { onWarning: (text) => assert.fail(text) });
    await files.prepare();
    files.write(document);
    while (!existsSync(paths[1])) await sleep(5);
    await files.stop();
    assert.deepEqual(JSON.parse(readFileSync(paths[0], 'utf8')), JSON.parse(JSON.stringify(document)));
    assert.match(readFileSync(paths[1], 'utf8'), /ocsp on /);
  });
});
