/** The page: what holds for any report, and for results that are hard to draw. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { describe } from '../../src/report/describe/index.js';
import { escapeHtml } from '../../src/report/html/escape.js';
import { STYLE } from '../../src/report/html/style.js';
import { render } from '../../src/report/html.js';
import { chart, section } from '../../src/report/sections.js';
import { HARD_RESULTS } from './hard-results.js';
import { everyPart } from './report-sample.js';
import { chartsIn, withoutCode } from './svg.js';

/** A tag whose attributes are all quoted; no quoted value holds markup. */
const TAG = /^<\/?[a-z][a-z0-9]*(?: [a-zA-Z][a-zA-Z0-9:-]*="[^"<>]*")*\/?>$/;

/** @param {string} html @returns {string[]} whatever looks like markup and is not well formed */
function malformed(html) {
  const markup = withoutCode(html).replace('<!DOCTYPE html>', '');
  const tags = (markup.match(/<[^>]*>?/g) ?? []).filter((tag) => !TAG.test(tag));
  const bare = markup.replace(/<[^>]*>/g, '').match(/[<>"']|&(?!(?:lt|gt|amp|quot|#39);)/g) ?? [];
  return [...tags, ...bare];
}

/** @type {[string, string][]} */
const PAGES = [
  ['every kind of part', render(everyPart('a text'))],
  ...(await Promise.all(
    Object.entries(HARD_RESULTS).map(async ([name, result]) => {
      return /** @type {[string, string]} */ ([name, render(await describe(result))]);
    }),
  )),
];

for (const [name, html] of PAGES) {
  test(`the page of ${name} is well formed and small`, () => {
    assert.deepEqual(malformed(html), []);
    assert.ok(html.length < 700_000, `${html.length} characters`);
  });

  test(`the page of ${name} has one h1, no skipped heading level, and unique ids`, () => {
    const levels = [...html.matchAll(/<h([1-6])>/g)].map(([, level]) => Number(level));
    assert.equal(levels.filter((level) => level === 1).length, 1);
    for (const [i, level] of levels.entries()) assert.ok(level <= (levels[i - 1] ?? 0) + 1, String(levels));
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  test(`the page of ${name} names landmarks, tables and charts for screen readers`, () => {
    for (const landmark of ['header', 'main', 'footer']) assert.equal(html.split(`<${landmark}>`).length, 2);
    assert.doesNotMatch(html, /<th(?! scope="(?:col|row)")[ >]/);
    const tables = [
      ...html.matchAll(
        /(?:<p class="caption">([^<]+)<\/p>\n)?<div class="scroll"[^>]*>\n<table aria-label="([^"]+)">/g,
      ),
    ];
    assert.equal(tables.length, html.split('<table').length - 1);
    // A caption that repeats the heading of its section is not shown.
    for (const [, caption, label] of tables)
      assert.ok(caption === undefined ? html.includes(`<h2>${label}</h2>`) : caption === label, label);
    for (const svg of chartsIn(html)) {
      assert.match(
        svg,
        /role="img" aria-label="[^"]+" aria-describedby="[^"]+"[^>]*>\n<desc id="[^"]+">[^<]*<\/desc>/,
      );
    }
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    for (const [, id] of html.matchAll(/aria-describedby="([^"]*)"/g)) assert.ok(ids.includes(id));
  });

  test(`each figure of ${name} has a table of its data`, () => {
    const figures = html.match(/<figure[\s\S]*?<\/figure>/g) ?? [];
    for (const figure of figures) assert.match(figure, /<details>\n<summary>Data: [\s\S]*<table/);
  });

  test(`the page of ${name} has no inline style or handler, and fetches nothing`, () => {
    for (const tag of withoutCode(html).match(/<[^>]*>/g) ?? []) {
      assert.doesNotMatch(tag, / style=| on[a-z]+=| src=| srcset=| xlink:/);
      assert.ok(!tag.includes(' href=') || tag === '<link rel="icon" href="data:,">', tag);
    }
  });
}

test('the policy allows only the style sheet; there is no script', () => {
  const html = render(everyPart('x'));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
  const hash = (/** @type {string} */ text) => createHash('sha256').update(text).digest('base64');
  assert.deepEqual(policy.split('; '), [
    "default-src 'none'",
    `style-src 'sha256-${hash(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  assert.ok(html.indexOf('Content-Security-Policy') < html.indexOf('<style>'));
  assert.equal(html.split('<style>').length, 2);
  assert.doesNotMatch(html, /<script/);
});

test('the style sheet fetches nothing', () => assert.doesNotMatch(STYLE, /url\(|@import|@font-face/));

test('words in tables break only if they do not fit, and hidden columns cast a shadow', () => {
  const rules = STYLE.match(/[^{}]*\b(?:th|td)\b[^{}]*\{[^}]*\}/g) ?? [];
  assert.ok(rules.length > 5);
  for (const rule of rules) assert.doesNotMatch(rule, /anywhere|break-all/);
  assert.match(STYLE, /\.scroll \{[^}]*background-attachment: local, local, scroll, scroll/);
});

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onfocus='alert(1)",
  '</title></style></script><!--',
  '&lt;b&gt;&amp;',
  ']]>\u2028\u2029\u202e\u0000',
  '__proto__',
  'constructor',
  '$& $1 $`',
];
const anyText = fc.string({ unit: 'binary', maxLength: 40 });
/** The first of the runs. */
const examples = HOSTILE.map((text) => /** @type {[string]} */ ([text]));

test('a page has at most 1000 charts', () => {
  const data = { unit: 'ms', groups: [{ name: '', runs: ['run 1'], values: [1] }] };
  const parts = Array.from({ length: 1001 }, () => chart('runs', 'p99', 'One dot per run.', data));
  const pageOf = (/** @type {typeof parts} */ some) =>
    render({ title: 't', subject: '', sections: [section('answer', null, []), section('a', 'A', some)] });
  const page = pageOf(parts);
  assert.equal(page.match(/<figure/g)?.length, 1000);
  assert.match(page, /only the first 1000 charts/);
  assert.doesNotMatch(pageOf(parts.slice(1)), /only the first/);
});

test('text of a report never becomes markup', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const html = render(everyPart(text));
      assert.deepEqual(malformed(html), []);
      assert.ok(html.includes(escapeHtml(text)));
      assert.doesNotMatch(html, /<script/);
      assert.doesNotMatch(withoutCode(html), /[\p{Cs}\u202a-\u202e]|(?!\n)\p{Cc}/u);
    }),
    { numRuns: 30, examples },
  );
});

test('escaped text contains no markup characters', () =>
  fc.assert(
    fc.property(anyText, (text) => assert.doesNotMatch(escapeHtml(text), /[<>"']/)),
    { examples },
  ));
