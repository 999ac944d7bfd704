import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { render } from '../../src/reporters/junit.js';
import { clean } from '../../src/reporters/layout.js';
import { sampleResult, spread } from '../results/sample.js';
import { SAMPLES } from './samples.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */
/** @typedef {{name: string, attributes: Record<string, string>, children: Element[], text: string}} Element */

/** @type {Record<string, string>} */
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * XML 1.0 without a document type, by hand and on its own: elements, attributes, text and the five entities.
 *
 * @param {string} xml
 * @returns {Element}
 */
function parse(xml) {
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  assert.ok(xml.startsWith(declaration));
  assert.doesNotMatch(
    xml,
    /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u,
    'only what XML can hold',
  );
  /** @type {Element} */
  const root = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const token = /<(\/?)([\w-]+)((?: [\w.-]+="[^"<]*")*)(\/?)>|([^<]+)/y;
  token.lastIndex = declaration.length;
  while (token.lastIndex < xml.length) {
    const from = token.lastIndex;
    const found = token.exec(xml);
    assert.ok(found !== null, `no XML: ${xml.slice(from, from + 60)}`);
    const [, closing, name, attributes, empty, text] = found;
    const top = open[open.length - 1];
    if (text !== undefined) top.text += decode(text);
    else if (closing === '/') assert.equal(open.pop()?.name, name);
    else {
      const pairs = [...attributes.matchAll(/ ([\w.-]+)="([^"]*)"/g)];
      const element = {
        name,
        attributes: Object.fromEntries(pairs.map(([, key, value]) => [key, decode(value)])),
        children: [],
        text: '',
      };
      top.children.push(element);
      if (empty === '') open.push(element);
    }
  }
  assert.equal(open.length, 1);
  assert.equal(root.children.length, 1);
  return root.children[0];
}

/** @param {string} text */
function decode(text) {
  assert.doesNotMatch(text, /&(?!(?:amp|lt|gt|quot|apos);)/);
  return text.replace(/&(\w+);/g, (_, name) => ENTITIES[name]);
}

/** What junit-10.xsd of Jenkins's xunit-plugin lets stand where. @type {Record<string, {required: string[], optional: string[], children: string[]}>} */
const SCHEMA = {
  testsuites: {
    required: [],
    optional: ['name', 'time', 'tests', 'failures', 'errors'],
    children: ['testsuite'],
  },
  testsuite: {
    required: ['name', 'tests', 'failures', 'errors'],
    optional: ['group', 'time', 'skipped', 'timestamp', 'hostname', 'id', 'package', 'file', 'log', 'url'],
    children: ['testsuite', 'properties', 'testcase', 'system-out', 'system-err'],
  },
  properties: { required: [], optional: [], children: ['property'] },
  property: { required: ['name', 'value'], optional: [], children: [] },
  testcase: {
    required: ['name'],
    optional: ['time', 'classname', 'group'],
    children: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
  },
  failure: { required: [], optional: ['type', 'message'], children: [] },
  error: { required: [], optional: ['type', 'message'], children: [] },
  'system-out': { required: [], optional: [], children: [] },
};

/** @param {Element} element */
function checkSchema({ name, attributes, children }) {
  const rule = SCHEMA[name];
  assert.ok(rule !== undefined, name);
  for (const key of rule.required) assert.ok(Object.hasOwn(attributes, key), `${name} has ${key}`);
  for (const key of Object.keys(attributes))
    assert.ok([...rule.required, ...rule.optional].includes(key), key);
  if (attributes.time !== undefined) assert.match(attributes.time, /^\d+\.\d{3}$/);
  for (const child of children) {
    assert.ok(rule.children.includes(child.name), `${child.name} in ${name}`);
    checkSchema(child);
  }
}

/** @param {Result} result */
function suiteOf(result) {
  const root = parse(render(result));
  checkSchema(root);
  const [suite] = root.children;
  const cases = suite.children.filter(({ name }) => name === 'testcase');
  const failed = (/** @type {string} */ kind) =>
    cases.filter(({ children }) => children.some(({ name }) => name === kind)).length;
  for (const { attributes } of [root, suite]) {
    assert.equal(attributes.tests, String(cases.length));
    assert.equal(attributes.failures, String(failed('failure')));
    assert.equal(attributes.errors, String(failed('error')));
  }
  return { suite, cases };
}

for (const [name, result] of Object.entries(SAMPLES)) {
  test(`the report of ${name} is as the schema has it, and counts its own cases`, () => {
    suiteOf(result);
  });
}

/** @type {[string, Result, [string, string, string | null][]][]} what, result, cases: name, kind of problem, its type */
const CASES = [
  [
    'a requirement that is not met fails, one that is not proven is an error',
    SAMPLES['requirement-not-met'],
    [
      ['p99<50ms', 'failure', 'not met'],
      ['p50<60ms', 'error', 'not proven'],
      ['the measurement can be believed', 'none', null],
    ],
  ],
  [
    'what is met passes',
    SAMPLES['closed-loop-issue'],
    [
      ['rate>=1000/h', 'none', null],
      ['the measurement can be believed', 'none', null],
    ],
  ],
  [
    'an invalid measurement fails',
    SAMPLES['invalid-measurement'],
    [['the measurement can be believed', 'failure', 'invalid']],
  ],
  ['a suspect one passes', SAMPLES.backlog, [['the measurement can be believed', 'none', null]]],
  [
    'an interrupted run is an error',
    SAMPLES['no-samples'],
    [
      ['the measurement can be believed', 'failure', 'invalid'],
      ['the run is whole', 'error', 'interrupted'],
    ],
  ],
  [
    'an unfinished run is an error, and its measurement is not judged',
    SAMPLES.unfinished,
    [
      ['p99<200ms', 'error', 'not proven'],
      ['the run is whole', 'error', 'unfinished'],
    ],
  ],
];

for (const [what, result, expected] of CASES) {
  test(what, () => {
    const found = suiteOf(result).cases.map(({ attributes, children }) => {
      const problem = children.find(({ name }) => name === 'failure' || name === 'error');
      return [attributes.name, problem?.name ?? 'none', problem?.attributes.type ?? null];
    });
    assert.deepEqual(found, expected);
  });
}

test('the reason stands in the message and in the text, and the summary as output', () => {
  const { suite, cases } = suiteOf(SAMPLES['requirement-not-met']);
  const [failure] = cases[0].children;
  assert.equal(
    failure.attributes.message,
    '10 of 400 requests had no good answer and count as slower than any limit.',
  );
  assert.equal(failure.text, `p99<50ms: not met. ${failure.attributes.message}`);
  assert.match(suite.children.at(-1)?.text ?? '', /^not met {7}p99<50ms\n/);
  assert.equal(suite.attributes.timestamp, '2026-01-02T03:04:05');
});

test('whatever text comes, it is read back as it was, without what XML or a terminal cannot take', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom('<', '>', '&', '"', "'", ']', '\u0000', '\ud800', '\ufffe', '\n', 'a'),
    }),
  );
  fc.assert(
    fc.property(anything, anything, (text, reason) => {
      const result = sampleResult([{ outcome: 'good', service: spread(3, 1, 2) }], {
        requirements: [{ text, verdict: 'not met', actual: 1, limit: 1, unit: 'ms', reason }],
      });
      const [{ attributes, children }] = suiteOf(result).cases;
      assert.equal(attributes.name, readable(text));
      assert.equal(children[0].attributes.message, readable(reason));
    }),
    { numRuns: 300 },
  );
});

/** @param {string} text */
function readable(text) {
  return clean(text).replace(/[\ud800-\udfff\ufffe\uffff]/gu, '?');
}
