/** What the page makes of each part of a section. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { whisker } from '../../src/report/html/parts.js';
import { render } from '../../src/report/html.js';
import { HARD_RESULTS } from './hard-results.js';
import { reportOf } from './report-sample.js';

/** @import { Part, Report } from '../../src/report/sections.js' */

/** @param {...Part} parts @returns {string} what is in main */
function mainOf(...parts) {
  return bodyOf(reportOf(parts));
}

/** @param {Report} report */
function bodyOf(report) {
  return /<main>\n([\s\S]*)\n<\/main>/.exec(render(report))?.[1] ?? '';
}

const LATENCY = /** @type {const} */ ({
  kind: 'chart',
  chart: 'latency-over-time',
  title: 'Response time over time',
  text: 'p50, p90, p99 and max of each second.',
  data: HARD_RESULTS['a freeze in the middle'],
});

/** @type {[string, Part, RegExp][]} */
const PARTS = [
  ['a sentence is a paragraph', { kind: 'sentence', text: 'So it is.' }, /<p>So it is\.<\/p>/],
  [
    'a strong sentence is the answer',
    { kind: 'sentence', text: 'So it is.', isStrong: true },
    /<p class="answer">So it is\.<\/p>/,
  ],
  [
    'a verdict is colour, sign and word',
    { kind: 'verdicts', items: [{ verdict: 'not met', name: 'p99<5ms', text: '9.6 ms' }] },
    /<strong class="badge bad"><span aria-hidden="true">✕<\/span> not met<\/strong>\n<code>p99&lt;5ms<\/code>/,
  ],
  [
    'the reason for a verdict is below it',
    { kind: 'verdicts', items: [{ verdict: 'not proven', name: 'a', text: 'b', reason: 'Too short.' }] },
    /<span class="text">b<\/span>\n<p class="reason">Too short\.<\/p>/,
  ],
  [
    'an unknown verdict is neutral and has no sign',
    { kind: 'verdicts', items: [{ verdict: 'constructor', name: 'a', text: 'b' }] },
    /<strong class="badge neutral">constructor<\/strong>/,
  ],
  [
    'a figure is a name, a value and a range',
    { kind: 'figures', items: [{ name: 'p99', value: '9.6 ms', range: '5.1 to 12 ms' }] },
    /<div><dt>p99<\/dt><dd>9\.6 ms<\/dd><dd class="range">5\.1 to 12 ms<\/dd><\/div>/,
  ],
  [
    'a note has its remedy',
    { kind: 'note', text: 'Sent late.', remedy: 'Lower --rate.' },
    /<div class="note"><p>Sent late\.<\/p><p class="muted">Lower --rate\.<\/p><\/div>/,
  ],
  [
    'facts are a list of names and texts',
    { kind: 'facts', items: [{ name: 'Target', text: 'http://a' }] },
    /<dl class="facts">\n<div><dt>Target<\/dt><dd>http:\/\/a<\/dd><\/div>/,
  ],
  [
    'a command is code',
    { kind: 'facts', items: [{ name: 'vault-pki-load ocsp', text: 'runs it again' }], isCode: true },
    /<dt><code>vault-pki-load ocsp<\/code><\/dt><dd>runs it again<\/dd>/,
  ],
];

for (const [why, part, expected] of PARTS) test(why, () => assert.match(mainOf(part), expected));

describe('a table', () => {
  const html = mainOf({
    kind: 'table',
    caption: 'Outcomes',
    columns: [
      { name: 'Outcome', isText: true },
      { name: 'count' },
      { name: 'meaning', isText: true, isDetail: true },
    ],
    rows: [
      ['never_sent', '243', { text: 'met', verdict: 'met' }],
      [{ text: 'all', isStrong: true }, '400', 'a text that takes several lines'],
    ],
  });

  test('has a caption, column headings and row headings', () => {
    assert.match(html, /<p class="caption">Outcomes<\/p>/);
    assert.match(html, /<th scope="col">Outcome<\/th><th scope="col" class="number">count<\/th>/);
    assert.match(html, /<tr><th scope="row"><strong>all<\/strong><\/th><td class="number">400<\/td>/);
  });

  test('breaks long names after each part, and makes room for long texts', () => {
    assert.match(html, /never_<wbr>sent/);
    assert.match(html, /<td class="detail long">a text that takes several lines<\/td>/);
  });

  test('shows verdicts as badges', () =>
    assert.match(
      html,
      /<td class="detail"><strong class="badge good"><span[^>]*>✓<\/span> met<\/strong><\/td>/,
    ));
});

/** @type {[string, Parameters<typeof whisker>, RegExp][]} */
const WHISKERS = [
  [
    'a bar on a scale from 0 to the largest figure',
    [{ value: 50, low: 40, high: 100 }, 110],
    /<path class="bar" d="M41\.8 6v8M41\.8 10H97M97 6v8"\/><circle class="value" cx="51" /,
  ],
  [
    'the limit as a vertical line',
    [{ value: 5, low: 4, high: 6, limit: 10 }, 110],
    /<path class="mark" d="M97 1V19"\/>/,
  ],
  [
    "shading on the bar's side of a met limit",
    [{ value: 5, low: 4, high: 6, limit: 10 }, 110, 'good'],
    /<rect class="side" x="5" y="4" width="92\.0"/,
  ],
  [
    'shading on the other side, for a rate above its limit',
    [{ value: 50, low: 40, high: 100, limit: 10 }, 110, 'good'],
    /<rect class="side" x="14\.2" y="4" width="90\.8"/,
  ],
  [
    'an arrow at the end of the scale, without an upper bound',
    [{ value: 50, low: 40, high: null }, 110],
    /10H105M101 6L105 10L101 14"/,
  ],
  [
    'a visible minimum for a very short bar',
    [{ value: 50, low: 50, high: 50 }, 110],
    /d="M94 6v8M94 10H97M97 6v8"/,
  ],
];

for (const [why, args, expected] of WHISKERS) {
  test(`draws a whisker: ${why}`, () => {
    assert.match(whisker(...args), expected);
    assert.match(whisker(...args), /aria-hidden="true"/);
  });
}

test('a whisker shades no side if not proven, and has no dot without a value', () => {
  const bar = { value: null, low: 4, high: 12, limit: 10 };
  assert.doesNotMatch(whisker(bar, 110, 'unsure'), /class="side"|class="value"/);
});

test('verdicts and figures with bars have whiskers; a line explains the whiskers of verdicts', () => {
  const bar = { value: 9.6, low: 5.1, high: 12, limit: 200 };
  const html = mainOf(
    { kind: 'verdicts', items: [{ verdict: 'met', name: 'p99<200ms', text: '9.6 ms', bar }] },
    { kind: 'figures', items: [{ name: 'p99', value: '9.6 ms', bar }] },
  );
  assert.match(html, /<ul class="verdicts">[\s\S]*<svg class="bars good"[\s\S]*<p class="key">Scale from 0/);
  assert.match(html, /<dd class="whisker"><svg class="bars neutral"/);
});

test('only the first chart of the first section has full width', () => {
  const [first, second] = mainOf(LATENCY, LATENCY).split('</figure>');
  assert.match(first, /<figure id="answer-chart-1" class="main">\n<figcaption>\n<h2>/);
  assert.match(first, /class="chart full"/);
  assert.match(second, /<figure id="answer-chart-2">/);
  assert.doesNotMatch(second, /class="chart full"/);
});

test('adjacent tables and charts share a row', () => {
  /** @type {Part} */
  const table = { kind: 'table', caption: 'a', columns: [{ name: 'b' }], rows: [['c']] };
  const html = mainOf(table, LATENCY, { kind: 'sentence', text: 'x' }, table);
  assert.deepEqual(
    html
      .replace(/<details>[\s\S]*?<\/details>/g, '')
      .match(/<div class="rows">|<div class="table">|<figure|<p>x/g),
    [
      '<div class="rows">',
      '<div class="table">',
      '<figure',
      '<p>x',
      '<div class="rows">',
      '<div class="table">',
    ],
  );
});

test('a chart with nothing to draw is omitted', () => {
  assert.doesNotMatch(mainOf({ ...LATENCY, data: HARD_RESULTS['no sample'] }), /<svg|<figure|Response time/);
});

test('sections have a heading, except the first; detail sections fold', () => {
  const parts = /** @type {Part[]} */ ([{ kind: 'sentence', text: 'x' }]);
  const heading = 'Outcomes';
  assert.match(
    bodyOf(reportOf(parts)),
    /^<section id="answer" aria-label="Answer">\n<p>x<\/p>\n<\/section>$/,
  );
  assert.match(bodyOf(reportOf(parts, { heading })), /^<section id="answer">\n<h2>Outcomes<\/h2>\n<p>x<\/p>/);
  assert.match(
    bodyOf(reportOf(parts, { heading, isDetail: true })),
    /^<section id="answer">\n<details>\n<summary><h2>Outcomes<\/h2><\/summary>\n<p>x<\/p>\n<\/details>/,
  );
});

test('a number and its unit stay on one line', () => {
  const html = render(reportOf([], {}, { title: 'p99 116 ms, 10 % slower, 3 msgs', subject: 'x' }));
  assert.match(html, /<h1>p99 116\u00a0ms, 10\u00a0% slower, 3 msgs<\/h1>/);
});

test('a sentence that repeats the title is omitted', () => {
  const parts = /** @type {Part[]} */ ([
    { kind: 'sentence', text: 'new is slower.' },
    { kind: 'sentence', text: 'x' },
  ]);
  assert.doesNotMatch(bodyOf(reportOf(parts, {}, { title: 'new is slower' })), /new is slower/);
});

test('title, subject and verdict of a report are escaped', () => {
  const html = render(reportOf([], {}, { title: '<b>&', subject: '<i>', verdict: 'met' }));
  assert.match(html, /<title>met: &lt;b&gt;&amp;<\/title>/);
  assert.match(html, /<h1>&lt;b&gt;&amp;<\/h1>\n<p class="subject">&lt;i&gt;<\/p>/);
});
