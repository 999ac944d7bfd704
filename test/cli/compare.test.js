/** `compare` as a user runs it, on files that runs might have written. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { validateComparison } from '../../src/results/comparison-schema.js';
import { makeRunSet } from '../../src/results/run-set.js';
import { runOf, slower, TEN } from '../results/runs.js';
import { openLoad } from '../results/sample.js';
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
const FASTER = files('faster', TEN, 1, { load: openLoad({ ratePerSecond: 50 }) });
const SET = file(
  'set.json',
  JSON.stringify(
    makeRunSet(
      'set',
      slower(1.1).map((factor, i) => runOf(factor, 1 + 2 * i)),
    ),
  ),
);

/** @param {string} stdout */
const parsed = (stdout) => validateComparison(JSON.parse(stdout));

describe('compare', () => {
  test('says what differs, by name of the files, as text', async () => {
    const { code, stdout, stderr } = await run(['compare', ...OLD, '--with', ...NEW]);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /^Comparison: new beside old$/m);
    assert.match(stdout, /^slower +mean \+10\.\d %, p50 \+10\.\d %/m);
    assert.match(stdout, /^ +rate, errors$/m);
  });

  test('as JSON gives the same for the same files, and all runs of a set', async () => {
    const args = ['compare', ...OLD, '--with', SET, '--format', 'json'];
    const [first, second] = [await run(args), await run(args)];
    assert.equal(first.code, 0, first.stderr);
    assert.equal(first.stdout, second.stdout);
    const { groups } = parsed(first.stdout);
    assert.deepEqual(
      groups.map(({ name, used }) => [name, used]),
      [
        ['old', 10],
        ['set', 10],
      ],
    );
  });

  test('takes a third group, and names', async () => {
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
    assert.match(readFileSync(html, 'utf8'), /^<!doctype html>/);
    assert.match(readFileSync(md, 'utf8'), /^## Comparison: new beside old$/m);
  });

  test('leaves out what was interrupted, and says so beside JSON', async () => {
    const args = ['compare', ...OLD, '--with', ...NEW, ...STOPPED, '--format', 'json'];
    const { code, stdout, stderr } = await run(args);
    assert.equal(code, 0, stderr);
    assert.equal(parsed(stdout).groups[1].used, 10);
    assert.match(stderr, /^Left out of .*: .*stopped-1\.json: it was interrupted\.$/m);
    const all = await run([...args, '--allow-invalid']);
    assert.equal(parsed(all.stdout).groups[1].used, 12);
  });

  test('warns where plans differ', async () => {
    const { code, stderr } = await run(['compare', ...OLD, '--with', ...FASTER, '--format', 'json']);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Warning: The runs were not made alike: .*load\.ratePerSecond \(20, 50\)/m);
  });
});

describe('compare --fail-if', () => {
  /** @type {[string, string[], number][]} */
  const TABLE = [
    ['fails where it is shown', ['p99 slower'], 99],
    ['fails where it is shown and large enough', ['p99 slower by 5%'], 99],
    ['passes where it is not large enough', ['p99 slower by 50%'], 0],
    ['passes where it is not shown', ['rate lower', 'errors higher by 0.1%'], 0],
    ['fails where one of them does', ['rate lower', 'p50 worse'], 99],
  ];
  for (const [why, limits, expected] of TABLE) {
    test(`${why}: ${limits.join(', ')}`, async () => {
      const flags = limits.flatMap((limit) => ['--fail-if', limit]);
      const { code, stdout, stderr } = await run(['compare', ...OLD, '--with', ...NEW, ...flags]);
      assert.equal(code, expected, stderr);
      assert.equal(/^failed /m.test(stdout), expected === 99);
      assertNoStack(stderr);
    });
  }

  test('says why on standard error, where standard output is not for people', async () => {
    const limit = ['--fail-if', 'p99 slower'];
    const { code, stderr } = await run(['compare', ...OLD, '--with', ...NEW, ...limit, '--format', 'json']);
    assert.equal(code, 99);
    assert.match(stderr, /^--fail-if 'p99 slower' came to pass: p99 is 10\.\d % slower/m);
  });
});

describe('compare refuses', () => {
  const broken = file('broken.json', '{"schema":');
  const comparison = file('comparison.json', JSON.stringify({ schema: 'vault-pki-load/comparison/1' }));
  /** @type {[string, string[], RegExp][]} */
  const TABLE = [
    ['nothing', [], /needs at least 1 FILE|No result of the base/],
    ['a base alone', OLD, /There is nothing to compare the base with\. Name the other results/],
    ['a file that is not there', [OLD[0], '--with', 'nowhere.json'], /nowhere\.json is not there/],
    ['a file that is cut off', [OLD[0], '--with', broken], /broken\.json ends in the middle/],
    [
      'a comparison that is none',
      [OLD[0], '--with', comparison],
      /comparison\.json is not a vault-pki-load\/comparison\/1/,
    ],
    ['the same run twice', [OLD[0], OLD[0], '--with', NEW[0]], /old-1\.json is given twice for old/],
    [
      'a group of interrupted runs',
      [OLD[0], '--with', ...STOPPED],
      /No run of stopped can be used.*--allow-invalid/,
    ],
    [
      'a limit that makes no sense',
      [OLD[0], '--with', NEW[0], '--fail-if', 'p99 10ms'],
      /--fail-if "p99 10ms": it does not say/,
    ],
    [
      'too many names',
      [OLD[0], '--with', NEW[0], '--name', 'a', '--name', 'b', '--name', 'c'],
      /--name is given 3 times/,
    ],
    [
      'a seed that is none',
      [OLD[0], '--with', NEW[0], '--seed', 'x'],
      /--seed is "x", which is not a whole number/,
    ],
    [
      'a form that shows one run',
      [OLD[0], '--with', NEW[0], '--out', 'x.xml'],
      /--out x\.xml: .* cannot be written as \.xml/,
    ],
    [
      'such a form on standard output',
      [OLD[0], '--with', NEW[0], '--format', 'csv'],
      /--format is "csv", which is not one of/,
    ],
    ['an option that is none', [OLD[0], '--with', NEW[0], '--fast'], /There is no option --fast/],
  ];
  for (const [why, args, message] of TABLE) {
    test(why, async () => assertRefused(await run(['compare', ...args]), message));
  }
});
