/** Results that are hard to draw, and means to look into the pages made of them. */
import { createHistogram } from '../../src/histogram.js';
import { buildLatency } from '../../src/results/build.js';
import { closedLoad, openLoad, sampleResult, spread } from '../results/sample.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */
/** @typedef {import('../../src/results/schema.js').TimelineRow} TimelineRow */

/**
 * @param {number} count a multiple of 1000
 * @returns {import('../../src/results/schema.js').LatencyBlock} from 0.5 ms to a second
 */
function manyLatencies(count) {
  const histogram = createHistogram();
  for (let i = 0; i < 1000; i++) histogram.recordValueWithCount(500 + i * i, count / 1000);
  return buildLatency(histogram);
}

/**
 * @param {number} second
 * @param {Partial<TimelineRow>} [changes]
 * @returns {TimelineRow}
 */
export function row(second, changes) {
  const wave = 1 + (second % 7) / 10;
  return {
    second,
    due: 20,
    sent: 20,
    succeeded: 20,
    failed: 0,
    failures: {},
    p50: 0.8 * wave,
    p90: 1.1 * wave,
    p99: 2.4 * wave,
    max: 5 * wave,
    lag99: 0.05 * wave,
    histogram: null,
    ...changes,
  };
}

/** Nothing was answered. @param {number} second */
export function silence(second) {
  return row(second, { sent: 0, succeeded: 0, p50: null, p90: null, p99: null, max: null, lag99: null });
}

/**
 * @param {number} seconds
 * @param {(second: number) => TimelineRow} [one]
 */
export function timeline(seconds, one = row) {
  return Array.from({ length: seconds }, (_, second) => one(second));
}

const LONG_NAME = `http_503_${'local_node_not_active_'.repeat(8)}`;

/** @type {Record<string, Result>} */
export const HARD_RESULTS = {
  'no sample': sampleResult([], { interrupted: true, counts: { neverSent: 400 }, timeline: [] }),
  'one sample': sampleResult([{ outcome: 'good', service: [1.5] }]),
  'ten samples': sampleResult([{ outcome: 'good', service: spread(10, 1, 40), lag: 0.2 }], {
    requirements: [requirement('p99<50ms', 'not proven', 50), requirement('p50<30ms', 'met', 30)],
  }),
  'ten million samples': sampleResult([], {
    load: openLoad({ ratePerSecond: 10_000, durationMs: 1_000_000 }),
    latencyMs: {
      response: manyLatencies(10_000_000),
      service: manyLatencies(10_000_000),
      sendLag: manyLatencies(10_000_000),
    },
    totals: {
      planned: 10_000_000,
      sent: 10_000_000,
      succeeded: 10_000_000,
      failed: 0,
      dropped: 0,
      neverSent: 0,
      neverSentDue: 0,
      errors: 0,
    },
    timeline: timeline(1000, (second) => row(second, { due: 10_000, sent: 10_000, succeeded: 10_000 })),
    windowSeconds: 1000,
  }),
  'only errors': sampleResult(
    [
      { outcome: 'connection_refused', success: false, service: spread(35, 0.2, 0.9) },
      { outcome: 'timeout', success: false, service: spread(5, 10_000, 10_001) },
    ],
    {
      timeline: timeline(20, (second) =>
        row(second, {
          succeeded: 0,
          failed: 2,
          failures: second < 15 ? { connection_refused: 2 } : { timeout: 1 },
        }),
      ),
    },
  ),
  'a freeze in the middle': sampleResult([{ outcome: 'good', service: spread(400, 1, 9000), lag: 4000 }], {
    timeline: timeline(60, (second) => {
      if (second >= 20 && second < 30) return silence(second);
      return second < 30
        ? row(second)
        : row(second, { p50: 4000, p90: 8000, p99: 9000, max: 9100, lag99: 8000 });
    }),
    windowSeconds: 50,
  }),
  'a closed loop that failed its measurement': sampleResult(
    [{ outcome: 'issued', service: spread(3000, 2, 60) }],
    {
      command: 'issue',
      load: closedLoad(),
      measurement: {
        verdict: 'invalid',
        reasons: [
          { code: 'send_lag', text: 'Requests went out late.', remedy: 'Lower --rate.' },
          { code: 'x', text: 'Y.' },
        ],
      },
    },
  ),
  'long names': sampleResult(
    [
      { outcome: 'good', service: spread(391, 1, 2) },
      { outcome: LONG_NAME, success: false, service: spread(9, 1, 2) },
    ],
    {
      command: `issue --cn ${'x'.repeat(300)}`,
      target: { url: `https://${'a'.repeat(200)}.example`, product: 'Vault', version: '1'.repeat(80) },
      timeline: timeline(20, (second) =>
        row(second, { succeeded: 19, failed: 1, failures: { [LONG_NAME]: 1 } }),
      ),
      requirements: [requirement(`p99.${'9'.repeat(80)}<50ms`, 'met', 50)],
    },
  ),
  'a day': sampleResult([{ outcome: 'good', service: spread(1000, 1, 40) }], {
    timeline: timeline(86_400, (second) => row(second, second === 40_000 ? { max: 999.5, failed: 7 } : {})),
  }),
  'a slow trickle': sampleResult([{ outcome: 'good', service: spread(100, 1, 40) }], {
    load: openLoad({ ratePerSecond: 100 / 3600 }),
    timeline: timeline(3600, (second) =>
      second % 36 === 0 ? row(second, { due: 1, sent: 1, succeeded: 1 }) : { ...silence(second), due: 0 },
    ),
  }),
};

/**
 * @param {string} text
 * @param {'met' | 'not met' | 'not proven'} verdict
 * @param {number} limit
 * @returns {Result['requirements'][number]}
 */
function requirement(text, verdict, limit) {
  return { text, verdict, actual: limit / 2, limit, unit: 'ms', reason: `It is ${verdict}.` };
}

/** @param {string} html @returns {string[]} the charts' SVGs, of both sizes */
export function chartsIn(html) {
  return html.match(/<svg class="chart [\s\S]*?<\/svg>/g) ?? [];
}

/** @param {string} html @returns {string} without what is in script and style elements */
export function withoutCode(html) {
  return html
    .replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1</script>')
    .replace(/<style>[\s\S]*?<\/style>/g, '<style></style>');
}

/** @typedef {{text: string, left: number, right: number, top: number, bottom: number}} TextBox */

const SIZE = 13;

/** Which share of a text is left of its place. @type {Record<string, number>} */
const ANCHORS = { start: 0, middle: 0.5, end: 1 };

/** In ems, of the usual sans-serif fonts. @param {string} text */
function width(text) {
  const ems = [...text].map((character) => {
    if (/[ .,:;'"!|ijltfrI()[\]\\/-]/.test(character)) return 0.35;
    if (/[mwMW%…]/.test(character)) return 0.9;
    return /[\u0020-\u024f–]/.test(character) ? 0.61 : 1;
  });
  return ems.reduce((sum, em) => sum + em, 0) * SIZE;
}

/** @param {string} svg @returns {TextBox[]} where its texts stand */
export function textBoxes(svg) {
  const texts = svg.matchAll(/<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)">([\s\S]*?)<\/text>/g);
  return [...texts].map(([, x, y, anchor, inner]) => {
    const text = plain(inner.replace(/<title>[\s\S]*?<\/title>/, ''));
    const left = Number(x) - ANCHORS[anchor] * width(text);
    return {
      text,
      left,
      right: left + width(text),
      top: Number(y) - 0.8 * SIZE,
      bottom: Number(y) + 0.25 * SIZE,
    };
  });
}

/** @param {string} html @returns {string} with the characters that entities stand for */
function plain(html) {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** @param {string} svg @returns {string[]} one sentence for each text that touches another or sticks out */
export function collisions(svg) {
  const [, whole, height] = (/viewBox="0 0 (\S+) (\S+)"/.exec(svg) ?? []).map(Number);
  const boxes = textBoxes(svg);
  const touching = boxes.flatMap((a, i) =>
    boxes
      .slice(i + 1)
      .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
      .map((b) => `${JSON.stringify(a.text)} touches ${JSON.stringify(b.text)}`),
  );
  const outside = boxes
    .filter(({ left, right, top, bottom }) => left < 0 || right > whole || top < 0 || bottom > height)
    .map(({ text, left, right }) => `${JSON.stringify(text)} sticks out: ${left} to ${right} of ${whole}`);
  return [...touching, ...outside];
}
