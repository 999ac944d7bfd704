import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Script } from 'node:vm';
import fc from 'fast-check';
import { escapeHtml, jsonForScript } from '../../src/reporters/html/escape.js';
import { page } from '../../src/reporters/html/page.js';
import { SCRIPT } from '../../src/reporters/html/script.js';
import { render } from '../../src/reporters/html.js';
import { block, sampleResult, spread } from '../results/sample.js';
import { chartsIn, HARD_RESULTS, row, withoutCode } from './html-samples.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

/** A tag with its attributes, all quoted; nothing in quotes may be markup. */
const TAG = /^<\/?[a-z][a-z0-9]*(?: [a-zA-Z][a-zA-Z0-9:-]*="[^"<>]*")*\/?>$/;

/** @param {string} html @returns {string[]} what looks like markup and is not as it should be */
function malformed(html) {
  const markup = withoutCode(html).replace('<!DOCTYPE html>', '');
  const tags = (markup.match(/<[^>]*>?/g) ?? []).filter((tag) => !TAG.test(tag));
  const bare = markup.replace(/<[^>]*>/g, '').match(/[<>"']|&(?!(?:lt|gt|amp|quot|#39);)/g) ?? [];
  return [...tags, ...bare];
}

for (const [name, result] of Object.entries(HARD_RESULTS)) {
  const html = render(result);

  test(`the page of ${name} is well formed`, () => {
    assert.deepEqual(malformed(html), []);
  });

  test(`the page of ${name} names landmarks, tables and charts for those who do not see them`, () => {
    for (const landmark of ['header', 'main', 'footer']) assert.equal(html.split(`<${landmark}>`).length, 2);
    assert.doesNotMatch(html, /<th(?! scope="(?:col|row)")[ >]/);
    const tables = [
      ...html.matchAll(
        /<p class="caption">([^<]+)<\/p>\n<div class="scroll"[^>]*>\n<table aria-label="([^"]+)">/g,
      ),
    ];
    assert.equal(tables.length, html.split('<table').length - 1);
    for (const [, caption, label] of tables) assert.equal(label, caption);
    for (const svg of chartsIn(html)) {
      assert.match(svg, /role="img"/);
      assert.match(svg, /<title id="[^"]+">[^<]+<\/title>\n<desc id="[^"]+">[^<]+<\/desc>/);
    }
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    for (const [, id] of html.matchAll(/aria-(?:labelledby|describedby)="([^"]*)"/g))
      assert.ok(ids.includes(id));
  });

  test(`the page of ${name} is small`, () => assert.ok(html.length < 700_000, `${html.length} characters`));
}

test('the policy allows the one script and the one style, and nothing else', () => {
  const html = render(HARD_RESULTS['ten samples']);
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
  const script = /<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
  const hash = (/** @type {string} */ text) => createHash('sha256').update(text).digest('base64');
  assert.deepEqual(policy.split('; '), [
    "default-src 'none'",
    `script-src 'sha256-${hash(script)}'`,
    `style-src 'sha256-${hash(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  assert.ok(html.indexOf('Content-Security-Policy') < html.indexOf('<style>'));
  assert.equal(html.split('<style>').length, 2);
  assert.equal(html.split('<script').length, 3);
});

test('what the policy forbids is not there: styles and handlers in tags, and addresses to fetch', () => {
  for (const result of Object.values(HARD_RESULTS)) {
    const html = render(result);
    const tags = withoutCode(html).match(/<[^>]*>/g) ?? [];
    for (const tag of tags) {
      assert.doesNotMatch(tag, / style=| on[a-z]+=| src=| srcset=| xlink:/);
      assert.ok(!tag.includes(' href=') || tag === '<link rel="icon" href="data:,">', tag);
    }
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
    assert.doesNotMatch(style, /url\(|@import|@font-face/);
  }
  assert.doesNotMatch(SCRIPT, /https?:|fetch\(|XMLHttpRequest|WebSocket|import\(|innerHTML|eval\(|\.style\b/);
});

test('the script is whole, and short', () => {
  assert.doesNotThrow(() => new Script(SCRIPT));
  assert.ok(SCRIPT.split('\n').length < 130);
  assert.doesNotMatch(SCRIPT, /<\/|<!--/);
});

test('the answer comes first, then whether to believe it, then the figures', () => {
  const html = render(HARD_RESULTS['ten samples']);
  const headings = [...html.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, text]) => text);
  assert.deepEqual(headings.slice(0, 3), ['Requirements', 'Measurement', 'Figures']);
  assert.match(html, /<p class="answer">1 of 2 requirements is not proven\.<\/p>/);
  assert.match(html, /<title>not proven: ocsp on /);
});

test('a measurement that cannot be believed says why, and what to do', () => {
  const html = render(HARD_RESULTS['a closed loop that failed its measurement']);
  assert.match(html, /class="badge bad"><span aria-hidden="true">✕<\/span> invalid</);
  assert.match(html, /<p>Requests went out late\.<\/p>\n<p class="muted">Lower --rate\.<\/p>/);
});

test('a result of a run that goes on is not judged', () => {
  const html = render(sampleResult([{ outcome: 'good', service: spread(10, 1, 2) }], { unfinished: true }));
  assert.match(html, /<p>It is judged when the run has ended\.<\/p>/);
  assert.match(html, /<title>unfinished: ocsp on /);
});

test('what is read out is as many values as the legend has entries, at ascending places', () => {
  for (const result of Object.values(HARD_RESULTS)) {
    const html = render(result);
    const json =
      /<script type="application\/json" id="chart-data">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
    for (const [id, { x, at, values }] of Object.entries(JSON.parse(json).charts)) {
      const figure = new RegExp(`<figure id="${id}">([\\s\\S]*?)</figure>`).exec(html)?.[1] ?? '';
      const entries = figure.split('class="value"').length - 1;
      assert.equal(at.length, x.length);
      assert.equal(values.length, x.length);
      assert.ok(
        values.every((/** @type {string[]} */ one) => one.length === entries),
        id,
      );
      assert.ok(
        x.every((/** @type {number} */ place, /** @type {number} */ i) => i === 0 || place >= x[i - 1]),
        id,
      );
      assert.ok(
        x.every((/** @type {number} */ place) => place >= 0 && place <= 1),
        id,
      );
    }
  }
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)",
    '</title></style></script><!--',
    '&lt;b&gt;&amp;',
    ']]>\u2028\u2029\u202e\u0000',
    '__proto__',
    'constructor',
    '$& $1 $`',
  ),
);

/** @param {string} text @returns {Result} with it wherever there is text */
function full(text) {
  const details = block([
    { outcome: text, service: spread(20, 1, 9) },
    { outcome: `${text}2`, success: false, service: [5] },
  ]);
  for (const detail of Object.values(details.outcomeDetails)) detail.meaning = text;
  return sampleResult([], {
    ...details,
    command: text,
    startedAt: text,
    tool: { version: text },
    plan: { [text]: text, list: [text, { deep: text }], deep: { [text]: { [text]: text } } },
    target: { url: text, product: text, version: text },
    operations: { [text]: { ...details, things: text }, [`${text}2`]: { ...details, things: text } },
    timeline: [row(0, { failed: 2, failures: { [text]: 1 } }), row(1)],
    requirements: [{ text, verdict: 'met', actual: 1, limit: 5, unit: 'ms', reason: text }],
    measurement: { verdict: 'suspect', reasons: [{ code: text, text, remedy: text }] },
    verification: {
      checked: 20,
      passed: 19,
      sampled: false,
      unchecked: 0,
      failures: { [text]: 1 },
      notes: [text],
    },
    environment: { node: text, platform: text, cpus: 2 },
  });
}

test('whatever text comes from a server, a file or a user, the page has the tags it has without it', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const html = render(full(text));
      assert.deepEqual(malformed(html), []);
      assert.ok(html.includes(escapeHtml(text)));
      assert.equal(html.split('<script').length, 3);
      assert.doesNotMatch(withoutCode(html), /[\p{Cs}\u202a-\u202e]|(?!\n)\p{Cc}/u);
    }),
    { numRuns: 60 },
  );
});

test('text is escaped for tags, and for scripts', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.doesNotMatch(escapeHtml(text), /[<>"']/);
      const json = jsonForScript({ [text]: text });
      assert.doesNotMatch(json, /[<>&\u2028\u2029]/);
      assert.deepEqual(Object.entries(JSON.parse(json)), [[text, text]]);
    }),
  );
});

test('title and heading of a page are text', () => {
  const html = page({ title: '<i>', heading: '<b>&', body: '<section><h2>x</h2></section>' });
  assert.match(html, /<title>&lt;i&gt;<\/title>/);
  const long = page({ title: `met: ${'😀'.repeat(80)}`, heading: 'a', body: '' });
  assert.match(long, /<title>met: (?:😀){64}…<\/title>/u);
  assert.match(html, /<h1>&lt;b&gt;&amp;<\/h1>/);
  assert.match(html, /<main>\n<section><h2>x<\/h2><\/section>\n<\/main>/);
});
