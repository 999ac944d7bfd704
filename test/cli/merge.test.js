/** `merge`: the merged result, its exit code, and what is refused. Parts on the embedded server: end-to-end.test.js and merge.slow.js. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { syntheticParts, syntheticRun, withoutBars } from '../synthetic-run.js';
import { assertRefused, rightResult, scratch, startBatch } from './support.js';

/** @import { Result } from '../../src/result/schema.js' */

const LOAD = { ratePerSecond: 60, durationMs: 6000, seed: 5 };

const run = startBatch({ after });
const path = scratch({ after });

describe('merge', () => {
  test('writes the merged result in every format, with the exit code of a run with this result', async () => {
    const requirements = ['p50<10s', 'rate>=1e4/s'];
    const files = syntheticParts({ load: LOAD, requirements }, [1, 1, 1]).map((part, k) =>
      path(`part-${k}.json`, JSON.stringify(part)),
    );
    const out = path('whole.json');
    const { code, stdout, stderr } = await run(['merge', files[2], files[0], files[1], '--out', out]);
    assert.equal(code, 99, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /rate>=1e4\/s/);
    const merged = rightResult(readFileSync(out, 'utf8'));
    const whole = syntheticRun({ load: LOAD, requirements });
    assert.deepEqual(withoutBars(merged.latencyMs), withoutBars(whole.latencyMs));
    assert.deepEqual(withoutBars(merged.requirements), withoutBars(whole.requirements));
    assert.match(merged.command, /^vault-pki-load merge .*part-2\.json/);
  });
});

/** @param {Result} part @returns {Result} with one request more, which was never sent */
function withOneMore(part) {
  const whole = JSON.parse(JSON.stringify(part));
  for (const { totals } of [whole, whole.operations.synthetic]) {
    totals.planned++;
    totals.neverSent++;
  }
  return whole;
}

describe('merge rejects, in one line:', () => {
  const file = (/** @type {string} */ name, /** @type {unknown} */ content) =>
    path(name, JSON.stringify(content));
  const parts = syntheticParts({ load: LOAD }, [1, 1]);
  const [a, b] = parts.map((part, k) => file(`refused-${k}.json`, part));
  const others = syntheticParts({ load: { ...LOAD, ratePerSecond: 61 } }, [1, 1]);
  const linkTo = (/** @type {string} */ target) => {
    const link = path('link.json');
    symlinkSync(target, link);
    return link;
  };
  const stopped = file('stopped.json', { ...parts[1], interrupted: true });

  /** @type {[string, string[], RegExp][]} */
  const TABLE = [
    [
      'parts with more Poisson arrivals than requests',
      syntheticParts({ load: LOAD }, [1, 1]).map((part, k) => {
        const endless = { ratePerSecond: 1e6, durationMs: 1e9, arrivals: 'poisson' };
        Object.assign(/** @type {any} */ (part.plan).load, endless);
        return file(`endless-${k}.json`, { ...part, load: { ...part.load, ...endless } });
      }),
      /endless-0\.json does not add up: the load has 500000000000 requests, but totals\.planned is 180/,
    ],
    ['a missing part', [b], /1 of 2 parts is missing: 0\. Pass the results of all parts/],
    [
      'a part twice',
      [a, b, file('again.json', parts[0])],
      /refused-0\.json and .*again\.json are both part 0 of 2\./,
    ],
    [
      'parts of different plans',
      [a, file('other.json', others[1])],
      /refused-0\.json and .*other\.json are parts of different plans: --rate \(60 and 61\)\./,
    ],
    ['a run', [file('whole-run.json', syntheticRun({ load: LOAD }))], /run\.json is not a part of a plan/],
    [
      'an interrupted part',
      [a, stopped],
      /stopped\.json, part 1 of 2, was interrupted\. .*--allow-interrupted/,
    ],
    [
      'parts with different target versions',
      [a, file('newer.json', { ...parts[1], target: { ...parts[1].target, version: '1.21.2' } })],
      /refused-0\.json tested Vault 1\.21\.1, but .*newer\.json tested Vault 1\.21\.2\. Repeat the parts/,
    ],
    [
      'a part number out of range',
      [a, b, file('seventh.json', { ...parts[1], shard: { index: 7, of: 2 } })],
      /seventh\.json is not a vault-pki-load\/result\/1: shard: there is no such part: parts are numbered from 0\./,
    ],
    [
      'a part with another number of requests than its plan has',
      [a, file('more.json', withOneMore(parts[1]))],
      /more\.json does not add up: the load has 180 requests, but totals\.planned is 181\./,
    ],
    [
      'a part without a histogram for each second',
      [
        a,
        file('bare.json', { ...parts[1], timeline: parts[1].timeline.map(({ histogram, ...row }) => row) }),
      ],
      /bare\.json cannot be merged: second 0 lacks a histogram of its own\. Use the unmodified file from --out FILE\.json\./,
    ],
    [
      'a part with a modified second',
      [
        a,
        file('garbled.json', {
          ...parts[1],
          timeline: parts[1].timeline.map((row) => ({ ...row, histogram: 'x' })),
        }),
      ],
      /garbled\.json does not add up: timeline\.0\.histogram cannot be read\./,
    ],
    [
      'a set of runs',
      [file('set.json', createRunSet('nightly', [syntheticRun({ load: LOAD })]))],
      /set\.json is not the result of one run\. Use a file that vault-pki-load wrote with --out FILE\.json\./,
    ],
    [
      '--out over a part',
      [a, b, '--out', path('whole.html'), '--out', a],
      /--out .*refused-0\.json is also an input or --keep file of this command, and would be overwritten\. Write to another file\./,
    ],
    [
      '--out over a part, through a link',
      [a, b, '--out', linkTo(b)],
      /--out .*link\.json is the same file as .*refused-1\.json, and would be overwritten\./,
    ],
  ];
  for (const [what, args, message] of TABLE) {
    test(what, async () => assertRefused(await run(['merge', ...args]), message));
  }

  test('a rejected merge writes nothing, and leaves the parts unchanged', () => {
    assert.equal(existsSync(path('whole.html')), false);
    assert.deepEqual(
      [a, b].map((part) => JSON.parse(readFileSync(part, 'utf8'))),
      JSON.parse(JSON.stringify(parts)),
    );
  });

  test('accepts an interrupted part with --allow-interrupted; the merged result is interrupted', async () => {
    const { code, stdout } = await run(['merge', a, stopped, '--allow-interrupted', '--format', 'json']);
    assert.equal(code, 130);
    assert.equal(JSON.parse(stdout).interrupted, true);
  });
});
