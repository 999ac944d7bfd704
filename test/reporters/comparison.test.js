import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { render as markdownOfComparison } from '../../src/reporters/comparison-markdown.js';
import { worthOf } from '../../src/reporters/comparison-phrases.js';
import { render as textOfComparison } from '../../src/reporters/comparison-text.js';
import { render as pageOfComparison } from '../../src/reporters/html/comparison.js';
import { render as pageOfRunSet } from '../../src/reporters/html/run-set.js';
import { targetsPhrase } from '../../src/reporters/run-phrases.js';
import { render as markdownOfRunSet } from '../../src/reporters/run-set-markdown.js';
import { render as textOfRunSet } from '../../src/reporters/run-set-text.js';
import { compareGroups } from '../../src/results/comparison/compare.js';
import { makeRunSet } from '../../src/results/runs/run-set.js';
import { BY_INTERVAL, BY_RANK, runOf, runsOf, slower, TEN } from '../results/runs.js';
import { openLoad, sampleResult, spread } from '../results/sample.js';

/** @typedef {import('../../src/results/comparison/comparison-schema.js').Comparison} Comparison */
/** @typedef {import('../../src/results/runs/run-set.js').RunSet} RunSet */

/** Golden text is written anew with UPDATE_GOLDEN=1; look at the difference before committing it. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

/** Driving a terminal, a table or a page is not for names. */
const NASTY = '</script><b>| `x` \u001b[2J\u202e';

const LONG =
  'a-storage-backend-with-a-name-that-is-much-longer-than-any-column-could-ever-be-wide-enough-for';

/** @type {Parameters<typeof runOf>[2]} */
const INVALID = {
  measurement: { verdict: 'invalid', reasons: [{ code: 'send_lag', text: 'Requests went out late.' }] },
};

const old = { name: 'old', runs: runsOf(TEN, 0) };

/** Answers nothing, and at once. @type {import('../../src/results/runs/run-metrics.js').NamedRun[]} */
const REFUSED = TEN.map((factor, i) => ({
  name: `down.json, run ${i + 1}`,
  result: sampleResult([{ outcome: 'refused', success: false, service: spread(100, 0.3, 0.4 * factor) }], {
    startedAt: `2026-01-0${3 + (i % 2)}T04:${10 + i}:00.000Z`,
    target: { url: 'http://10.0.0.1:8200', product: 'OpenBao', version: '2.6.2' },
  }),
}));

/** @param {{base: readonly number[], other: readonly number[]}} factors */
const compared = ({ base, other }) =>
  compareGroups([
    { name: 'old', runs: runsOf(base, 0) },
    { name: 'new', runs: runsOf(other, 1) },
  ]);

/** @type {Record<string, Comparison>} by what it shows */
const COMPARISONS = {
  'compare-slower': compareGroups([old, { name: 'new', runs: runsOf(slower(1.1), 1) }], {
    failIf: ['p99 slower by 10%', 'rate lower', 'p99 slower by 50%'],
    createdAt: '2026-02-03T04:05:06.789Z',
    command: "vault-pki-load compare old-1.json --with new-1.json --fail-if 'p99 slower by 10%'",
  }),
  'compare-nothing': compareGroups([old, { name: 'new', runs: runsOf(TEN, 1) }]),
  'compare-few-runs': compareGroups([
    { name: 'old', runs: runsOf([1], 0) },
    { name: 'new', runs: runsOf([2, 2.1], 1) },
  ]),
  'compare-many-groups': compareGroups(
    ['consul', 'raft', 'etcd', 'file', 'inmem', 'mysql', 'zookeeper', 's3'].map((name, i) => ({
      name,
      runs: runsOf(slower(i === 1 ? 0.7 : 1 + i / 20), i * 100),
    })),
    { failIf: ['p99 slower by 10%'], resamples: 400 },
  ),
  'compare-warnings': compareGroups(
    [
      old,
      {
        name: LONG,
        runs: [
          ...runsOf(slower(0.8), 100, { load: openLoad({ ratePerSecond: 50, concurrency: 99 }) }),
          { name: 'bad.json', result: runOf(9, 200, INVALID) },
        ],
      },
    ],
    { failIf: ['p99 worse', 'rate better by 5%'], leaveOutInvalid: true },
  ),
  'compare-by-rank': compared(BY_RANK),
  'compare-by-interval': compared(BY_INTERVAL),
  'compare-errors': compareGroups([old, { name: 'down', runs: REFUSED }], {
    failIf: ['p99 slower by 10%', 'errors higher'],
  }),
  'compare-left-out': compareGroups(
    [old, { name: 'new', runs: [...runsOf(TEN.slice(5), 1), ...runsOf(slower(2).slice(5), 201, INVALID)] }],
    { failIf: ['p99 slower'], leaveOutInvalid: true },
  ),
};

/** @type {Record<string, RunSet>} by what it shows */
const RUN_SETS = {
  'run-set': makeRunSet(
    'nightly',
    TEN.map((factor, i) =>
      runOf(factor, i, {
        requirements: [
          {
            text: 'p99<10ms',
            verdict: factor > 1.02 ? 'not met' : 'met',
            actual: 9.9 * factor,
            limit: 10,
            unit: 'ms',
            reason: 'So it is.',
          },
        ],
      }),
    ),
  ),
  'run-set-left-out': makeRunSet(LONG, [
    runOf(1, 0),
    runOf(1.1, 1, INVALID),
    runOf(1.2, 2, { interrupted: true }),
    runOf(1000, 3),
  ]),
  'run-set-mixed': makeRunSet('before and after', [
    runOf(1, 0),
    runOf(1.1, 1),
    runOf(1.2, 2, {
      load: openLoad({ ratePerSecond: 50 }),
      target: { url: 'http://127.0.0.1:8200', product: 'OpenBao', version: '2.6.2' },
    }),
  ]),
  'run-set-nothing': makeRunSet('stopped', [runOf(1, 0, { interrupted: true })]),
};

/**
 * @param {string} name of the file
 * @param {string} text
 */
function assertGolden(name, text) {
  const golden = new URL(`./golden/${name}`, import.meta.url);
  if (UPDATE) writeFileSync(golden, text);
  assert.equal(text, readFileSync(golden, 'utf8'));
}

/** @param {string} text */
function assertNarrow(text) {
  for (const line of text.split('\n')) assert.ok(line.length <= 80, `over 80 columns: ${line}`);
  assert.match(text, /[^\n]\n$/);
}

/**
 * Nothing that is no figure is shown as one, and no two things have the same id.
 *
 * @param {string} html
 */
function assertSound(html) {
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length, 'ids are unique');
  const main = html.slice(html.indexOf('<body>'), html.indexOf('</main>'));
  assert.doesNotMatch(main, /NaN|undefined|Infinity|\[object/);
}

describe('comparisons as agreed:', () => {
  for (const [name, comparison] of Object.entries(COMPARISONS)) {
    test(`${name}, as text`, () => {
      const text = textOfComparison(comparison);
      assertNarrow(text);
      assertGolden(`${name}.txt`, text);
    });
    test(`${name}, as Markdown`, () => assertGolden(`${name}.md`, markdownOfComparison(comparison)));
  }
});

describe('run sets as agreed:', () => {
  for (const [name, runSet] of Object.entries(RUN_SETS)) {
    test(`${name}, as text`, () => {
      const text = textOfRunSet(runSet);
      assertNarrow(text);
      assertGolden(`${name}.txt`, text);
    });
    test(`${name}, as Markdown`, () => assertGolden(`${name}.md`, markdownOfRunSet(runSet)));
  }
});

test('what is best, and what only has the best median, is marked', () => {
  const text = textOfComparison(COMPARISONS['compare-many-groups']);
  assert.match(text, /^\* best: better than every other, which is shown$/m);
  assert.match(text, /^p99 .*\*/m);
  assert.match(markdownOfComparison(COMPARISONS['compare-many-groups']), /\*\* \(best\)/);
});

describe('colour adds escape sequences to verdicts and nothing else:', () => {
  /** @param {string} text */
  const painted = (text) =>
    [...text.matchAll(/\p{Cc}\[\d+m([^\p{Cc}]+)\p{Cc}\[39m/gu)].map(([, word]) => word);

  test('a comparison', () => {
    const coloured = textOfComparison(COMPARISONS['compare-slower'], { color: true });
    assert.equal(stripVTControlCharacters(coloured), textOfComparison(COMPARISONS['compare-slower']));
    // p99 is about 10.05 % slower.
    assert.deepEqual(painted(coloured), ['failed', 'passed', 'passed', 'slower']);
  });

  test('a run set', () => {
    const coloured = textOfRunSet(RUN_SETS['run-set'], { color: true });
    assert.equal(stripVTControlCharacters(coloured), textOfRunSet(RUN_SETS['run-set']));
    assert.deepEqual(painted(coloured), ['not met']);
  });
});

describe('names cannot drive what shows them:', () => {
  const comparison = compareGroups([old, { name: NASTY, runs: runsOf(slower(1.1), 1) }], { resamples: 40 });
  const runSet = makeRunSet(NASTY, [runOf(1, 0)]);

  test('a terminal', () => {
    for (const text of [textOfComparison(comparison), textOfRunSet(runSet)]) {
      assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
    }
  });

  test('Markdown', () => {
    for (const text of [markdownOfComparison(comparison), markdownOfRunSet(runSet)]) {
      assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]|(?<!\\)<b>|(?<!\\)`x/u);
    }
    const lines = markdownOfComparison(comparison).split('\n');
    const rows = lines.filter((line) => line.startsWith('|') && /verdict|shown|slower/.test(line));
    assert.equal(rows.length, 1 + comparison.metrics.length, 'a heading and the metrics');
    for (const row of rows) assert.equal(row.match(/(?<!\\)\|/g)?.length, 8, row);
  });

  test('a page', () => {
    for (const html of [pageOfComparison(comparison), pageOfRunSet(runSet)]) {
      assert.ok(html.includes('&lt;/script&gt;&lt;b&gt;'));
      assert.ok(!html.includes('</script><b>'));
      assert.ok(!html.includes('\u001b') && !html.includes('\u202e'));
    }
  });
});

describe('pages', () => {
  for (const [name, comparison] of Object.entries(COMPARISONS)) {
    test(`${name} has a chart and its data for every metric`, () => {
      const html = pageOfComparison(comparison);
      assert.match(html, /^<!DOCTYPE html>/);
      assert.match(html, /<\/html>\n$/);
      for (const i of comparison.metrics.keys()) assert.ok(html.includes(`id="metric-${i}"`), `metric-${i}`);
      assertSound(html);
    });
  }

  test('say what was compared: operation and load, and of each run its file, target, time and verdict', () => {
    const html = pageOfComparison(COMPARISONS['compare-left-out']);
    assert.ok(html.includes('<p>Of ocsp, open loop at 20/s, 20 s.</p>'));
    const row = /<tr><th scope="row">run-5\.json<\/th><td>new<\/td><td>2026-01-02 06:29<\/td>.*<\/tr>/.exec(
      html,
    );
    assert.match(String(row), /http:\/\/127\.0\.0\.1:8200 \(Vault 1\.21\.1\)/);
    assert.match(
      String(row),
      /invalid<\/strong>.*left out: its measurement is invalid: Requests went out late/,
    );
  });

  test('of groups that were not alike say of each what it was', () => {
    const html = pageOfComparison(COMPARISONS['compare-warnings']);
    assert.match(html, /ocsp, open loop at 20\/s, 20 s; on http/);
    assert.match(html, /ocsp, open loop at 50\/s, 20 s; on http/);
  });

  test('say when they were made and by what command, escaped', () => {
    const html = pageOfComparison(COMPARISONS['compare-slower']);
    assert.match(html, /2026-02-03 04:05 UTC, vault-pki-load compare old-1\.json --with new-1\.json/);
  });

  test('of errors call nothing better that is not', () => {
    const html = pageOfComparison(COMPARISONS['compare-errors']);
    assert.match(html, /class="badge unsure">.*not comparable<\/strong> mean, p50/);
    assert.match(html, /class="badge unsure">.*not proven<\/strong> p99 slower by 10%/);
    assert.doesNotMatch(html, /faster<\/strong>/);
  });

  for (const [name, runSet] of Object.entries(RUN_SETS)) {
    test(`${name} says of every run what it measured`, () => {
      const html = pageOfRunSet(runSet);
      for (const i of runSet.runs.keys()) assert.ok(html.includes(`run ${i + 1}`), `run ${i + 1}`);
      assertSound(html);
    });
  }
});

describe('targets are told as', () => {
  const at = (/** @type {number} */ port, /** @type {string | null} */ product = 'Vault') => ({
    target: { url: `http://a:${port}`, product, version: product === null ? null : '1.21.1' },
  });
  /** @type {[string, Parameters<typeof targetsPhrase>[0], string][]} */
  const TABLE = [
    ['one that all have, once', [at(1), at(1)], 'http://a:1 (Vault 1.21.1)'],
    ['two, both', [at(1), at(2), at(1)], 'http://a:1 (Vault 1.21.1), http://a:2 (Vault 1.21.1)'],
    ['more, by how many they are', [at(1), at(2), at(3)], 'Vault 1.21.1 at 3 addresses'],
    ['more that did not say what they are', [at(1, null), at(2, null), at(3, null)], '3 addresses'],
    [
      'two products at one address',
      [at(1), at(1, 'OpenBao')],
      'http://a:1 (Vault 1.21.1), http://a:1 (OpenBao 1.21.1)',
    ],
  ];
  for (const [why, runs, expected] of TABLE) {
    test(why, () => assert.equal(targetsPhrase(runs), expected));
  }
});

describe('worth of a verdict', () => {
  /** @type {[Parameters<typeof worthOf>[1], boolean, ReturnType<typeof worthOf>][]} verdict, lower is better, worth */
  const TABLE = [
    ['slower', true, 'bad'],
    ['faster', true, 'good'],
    ['higher', true, 'bad'],
    ['lower', true, 'good'],
    ['higher', false, 'good'],
    ['lower', false, 'bad'],
    ['no difference shown', true, 'none'],
    ['not enough runs', false, 'unsure'],
    ['not comparable', true, 'unsure'],
  ];
  for (const [verdict, lowerIsBetter, worth] of TABLE) {
    test(`${verdict}, where ${lowerIsBetter ? 'lower' : 'higher'} is better: ${worth}`, () => {
      assert.equal(worthOf({ lowerIsBetter }, verdict), worth);
    });
  }
});
