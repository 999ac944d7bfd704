/** `compare` as a user runs it, on files that runs might have written. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { validateComparison } from '../../src/result/comparison/comparison-schema.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { runOf, runsOf, slower, TEN } from '../result/runs.js';
import { assertNoStack, assertRefused, scratch, startBatch } from './support.js';

const run = startBatch({ after });
const file = scratch({ after });

/**
 * @param {string} name
 * @param {readonly number[]} factors
 * @param {number} first minute
 * @param {Parameters<typeof runOf>[2]} [changes]
 * @returns {string[]} one file for each run
 */
const files = (name, factors, first, changes) =>
  factors.map((factor, i) =>
    file(`${name}-${i + 1}.json`, JSON.stringify(runOf(factor, first + 2 * i, changes))),
  );

const OLD = files('old', TEN, 0);
const NEW = files('new', slower(1.1), 1);
const LOW = files('low', slower(0.9), 51);
const STOPPED = files('stopped', [1, 2], 200, { interrupted: true });
const SET = file(
  'set.json',
  JSON.stringify(
    createRunSet(
      'set',
      slower(1.1).map((factor, i) => runOf(factor, 1 + 2 * i)),
    ),
  ),
);

/** @param {string} stdout */
const parsed = (stdout) => validateComparison(JSON.parse(stdout));

describe('compare', () => {
  test('prints the differences as text, with names from the files', async () => {
    const { code, stdout, stderr } = await run(['compare', ...OLD, '--with', ...NEW]);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /^ {2}new is 10\.0 % slower than old \(p99 /m);
    assert.match(stdout, /^p50 .* \+10\.\d % .* slower$/m);
    assert.match(stdout, /^errors .* no difference shown$/m);
  });

  test('JSON is reproducible, and contains all runs of a set and the command without secrets', async () => {
    const token = `hvs.${'x'.repeat(24)}`;
    const args = ['compare', ...OLD, '--with', SET, '--name', token, '--name', 'set', '--format', 'json'];
    const [first, second] = [await run(args), await run(args)];
    assert.match(String(parsed(first.stdout).command), / --with .*--name '?<redacted>/);
    assert.equal(first.code, 0, first.stderr);
    const [one, other] = [parsed(first.stdout), parsed(second.stdout)];
    assert.deepEqual({ ...one, createdAt: null }, { ...other, createdAt: null });
    assert.deepEqual(
      one.groups.map(({ runs }) => [runs.length, runs[9].name.replace(/.*\//, '')]),
      [
        [10, 'old-10.json'],
        [10, 'set.json, run 10'],
      ],
    );
  });

  test('accepts a third group, and names', async () => {
    const names = ['--name', 'consul', '--name', 'raft', '--name', 'etcd'];
    const more = ['--with', ...NEW, '--with', ...LOW];
    const { code, stdout, stderr } = await run(['compare', ...OLD, ...more, ...names, '--format', 'json']);
    assert.equal(code, 0, stderr);
    const { groups, metrics } = parsed(stdout);
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['consul', 'raft', 'etcd'],
    );
    assert.equal(metrics[0].best, 2);
  });

  test('writes files, each in its format', async () => {
    const [json, html, md] = [file('c.json'), file('c.html'), file('c.md')];
    const out = ['--out', json, '--out', html, '--out', md];
    const { code, stderr } = await run(['compare', ...OLD, '--with', ...NEW, ...out]);
    assert.equal(code, 0, stderr);
    assert.equal(parsed(readFileSync(json, 'utf8')).groups.length, 2);
    assert.match(readFileSync(html, 'utf8'), /^<!DOCTYPE html>/);
    assert.match(readFileSync(md, 'utf8'), /^## new is 10\.0 % slower than old \(p99 /m);
  });

  test('leaves out interrupted runs on request, and reports it', async () => {
    const args = ['compare', ...OLD, '--with', ...NEW, ...STOPPED, '--format', 'json'];
    const usedIn = (/** @type {string} */ stdout) =>
      parsed(stdout).groups[1].runs.filter(({ used }) => used).length;
    const { code, stdout, stderr } = await run([...args, '--leave-out-invalid']);
    assert.equal(code, 0, stderr);
    assert.equal(usedIn(stdout), 10);
    assert.match(stdout, /"why": "it was interrupted"/);
    assert.match(stdout, /2 of 12 runs of .* were left out, so the group may look better than it is\./);
    const all = await run([...args, '--allow-invalid']);
    assert.equal(usedIn(all.stdout), 12);
  });

  test('counts the runs of a set that did not take place', async () => {
    const few = slower(1.1).slice(0, 5);
    const runs = few.map((factor, i) => runOf(factor, 1 + 2 * i));
    const cut = file('cut.json', JSON.stringify(createRunSet('cut', runs, 20)));
    const { code, stdout } = await run(['compare', ...OLD, '--with', cut, '--fail-if', 'errors higher']);
    assert.equal(code, 99);
    const text = stdout.replace(/\s+/g, ' ');
    assert.match(text, /But 15 of 20 runs of cut are left out or did not take place/);
    assert.match(text, /15 of 20 planned runs of cut did not take place, so the group may look better/);
  });
});

describe('compare --fail-if', () => {
  /** @type {[string, string[], number][]} */
  const TABLE = [
    ['fails if shown', ['p99 slower'], 99],
    ['fails if shown and large enough', ['p99 slower by 5%'], 99],
    ['passes if not shown', ['rate lower', 'errors higher by 0.1%'], 0],
  ];
  for (const [why, limits, expected] of TABLE) {
    test(`${why}: ${limits.join(', ')}`, async () => {
      const flags = limits.flatMap((limit) => ['--fail-if', limit]);
      const { code, stdout, stderr } = await run(['compare', ...OLD, '--with', ...NEW, ...flags]);
      assert.equal(code, expected, stderr);
      assert.equal(/^ {2}failed /m.test(stdout), expected === 99);
      assertNoStack(stderr);
    });
  }

  /** @type {[string, string[], RegExp][]} */
  const UNPROVEN = [
    [
      'one run of each proves nothing, however slow',
      [OLD[0], '--with', ...files('slow', [1.5], 1)],
      /not proven +p99 slower\n +p99: not enough runs, 1 and 1/,
    ],
    [
      'the better half of the runs does not count for all',
      [
        ...OLD,
        '--with',
        ...NEW.slice(0, 2),
        ...files('kept', [1, 1.01], 601),
        ...files('gone', [3, 4, 5, 6], 701, { interrupted: true }),
        '--leave-out-invalid',
      ],
      /not proven +p99 slower\n[\s\S]*But\s+4\s+of\s+8\s+runs\s+of\s+\S+\s+are\s+left\s+out/,
    ],
  ];
  for (const [why, args, message] of UNPROVEN) {
    test(`is not proven, exit code 99: ${why}`, async () => {
      const { code, stdout, stderr } = await run(['compare', ...args, '--fail-if', 'p99 slower']);
      assert.equal(code, 99, stderr + stdout);
      assert.match(stdout, message);
      assert.doesNotMatch(stdout, /^(failed|passed) /m);
    });
  }
});

describe('compare rejects', () => {
  const groups = [
    { name: 'old', runs: runsOf(TEN, 0) },
    { name: 'new', runs: runsOf(slower(1.1), 1) },
  ];
  const comparison = file('comparison.json', JSON.stringify(compareGroups(groups, { resamples: 10 })));
  const [part] = files('part', [1], 400, { shard: { index: 0, of: 2 } });
  /** @type {[string, string[], RegExp][]} */
  const TABLE = [
    ['nothing', [], /compare needs the base before --with: compare BASE\.json/],
    [
      'a base after --with',
      ['--with', ...NEW, ...OLD],
      /compare needs the base before --with: compare BASE\.json/,
    ],
    ['a base alone', OLD, /There is nothing to compare the base with\. Add other results/],
    [
      'a comparison among runs',
      [OLD[0], '--with', comparison],
      /comparison\.json is a comparison, not the result of a run\. Pass only results of runs, or report this file on its own\./,
    ],
    [
      'a part of a plan, whatever is allowed',
      [OLD[0], '--with', part, '--allow-invalid'],
      /part-1\.json is part 0 of 2 of a plan, .*vault-pki-load merge FILE/,
    ],
    [
      'the same run in both groups',
      [...OLD, ...NEW, '--with', ...NEW],
      /new-1\.json of .* and .*new-1\.json of new are the same run/,
    ],
    [
      'interrupted runs among others',
      [...OLD, '--with', ...NEW, ...STOPPED],
      /Invalid or incomplete runs \(2\): .*stopped-1\.json of .*: it was interrupted; .*--leave-out-invalid, or all/,
    ],
    [
      '--allow-invalid with --leave-out-invalid',
      [OLD[0], '--with', NEW[0], '--allow-invalid', '--leave-out-invalid'],
      /--allow-invalid and --leave-out-invalid contradict each other\. Choose one/,
    ],
    ['the same run twice', [OLD[0], OLD[0], '--with', NEW[0]], /old-1\.json of .* is given twice/],
    [
      'a group of interrupted runs',
      [OLD[0], '--with', ...STOPPED, '--leave-out-invalid'],
      /stopped has no usable run.*--allow-invalid/,
    ],
    ['an invalid limit', [OLD[0], '--with', NEW[0], '--fail-if', 'p99 10ms'], /it needs one of/],
    [
      'a format for one run',
      [OLD[0], '--with', NEW[0], '--out', 'x.hgrm'],
      /x\.hgrm: .* cannot .* as \.hgrm/,
    ],
  ];
  for (const [why, args, message] of TABLE) {
    test(why, async () => assertRefused(await run(['compare', ...args]), message));
  }
});
