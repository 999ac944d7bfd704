/** Reports made by hand, to see what a renderer makes of each part. */

import { sampleResult, spread } from '../result/sample.js';
import { row, timeline } from './hard-results.js';
/** @import { Part, Report, Section } from '../../src/report/sections.js' */

/**
 * @param {Part[]} parts
 * @param {Partial<Section>} [section]
 * @param {Partial<Report>} [report]
 * @returns {Report} with these parts in one section
 */
export function reportOf(parts, section = {}, report = {}) {
  const only = { id: 'answer', heading: null, parts, ...section };
  return { title: 'Met: 1 requirement', subject: 'ocsp on http://a', sections: [only], ...report };
}

/** @param {string} text @returns {Report} each kind of part and each chart, with this text wherever there is one */
export function everyPart(text) {
  const bar = { value: 9.6, low: 5.1, high: 12, limit: 200 };
  /** @type {Part[]} */
  const parts = [
    { kind: 'sentence', text: `${text}!`, isStrong: true },
    { kind: 'sentence', text: `${text}?` },
    {
      kind: 'verdicts',
      items: [
        { verdict: 'met', name: text, text, bar },
        { verdict: text, name: text, text, reason: text },
      ],
    },
    { kind: 'figures', items: [{ name: text, value: text, range: text, bar: { ...bar, high: null } }] },
    { kind: 'note', text, remedy: text },
    { kind: 'facts', items: [{ name: text, text }] },
    { kind: 'facts', items: [{ name: text, text }], isCode: true },
    {
      kind: 'table',
      caption: `${text}.`,
      columns: [{ name: text, isText: true }, { name: text }, { name: text, isText: true, isDetail: true }],
      rows: [[text, { text, verdict: 'met' }, { text, isStrong: true }]],
    },
  ];
  return {
    title: text,
    verdict: text,
    subject: text,
    sections: [
      { id: 'answer', heading: null, parts: [...parts, ...charts(text)] },
      { id: 'more', heading: `${text}.`, parts },
      { id: 'folded', heading: `${text}.`, parts: [...parts, ...charts(text)], isDetail: true },
    ],
  };
}

/** @param {string} text @returns {Part[]} */
function charts(text) {
  const result = {
    ...sampleResult([{ outcome: 'good', service: spread(400, 1, 9) }], {
      timeline: timeline(20, (second) => row(second, { failed: 2, failures: { [text]: 1 } })),
      requirements: [{ text, verdict: 'met', actual: 1, limit: 5, unit: 'ms', reason: text }],
    }),
    stages: [{ name: text, startSeconds: 0 }],
  };
  const latency = result.latencyMs.response;
  const levels = [1, 2].map((level) => ({ level, name: text, verdict: text }));
  /** @type {[string, any][]} */
  const all = [
    ...['latency-over-time', 'rates', 'errors', 'send-lag'].map(
      (name) => /** @type {[string, any]} */ ([name, result]),
    ),
    [
      'percentiles',
      {
        axis: text,
        series: [
          { name: text, latency },
          { name: text, latency },
        ],
      },
    ],
    ['runs', { unit: 'ms', groups: ['a', text].map((name) => ({ name, runs: [text], values: [1] })) }],
    [
      'levels',
      {
        ...{ heading: text, axis: text, unit: 'ms', levels, answer: { level: 1, name: text } },
        series: [{ name: text, values: [1, 2] }],
        limits: [{ text, value: 1.5 }],
      },
    ],
    ['errors', sampleResult([])],
  ];
  return all.map(([chart, data]) => ({ kind: 'chart', chart, title: `${text}.`, text, data }));
}
