/** Every string of a document may come from a server, a file or a scenario: none of them drives a terminal, a log or a page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sanitizeText } from '../../src/common/sanitize.js';
import { renderDocument, reporters } from '../../src/report/index.js';
import { DOCUMENT_KINDS, kindOf } from '../../src/result/document.js';
import { COMPARISONS, PROPAGATIONS, RUN_SETS, SCENARIOS, SEARCHES } from './documents.js';
import { assertMarkdown } from './markdown-document.js';
import { SAMPLES } from './samples.js';
import { withoutCode } from './svg.js';

const PLANTED =
  '\u001b]0;X\u0007\u001b[31m\u0085\u009b2J\u202e\u2066\u200b\u{e0041}\n::error file=a::b\r\n##[error]c <script>x</script> | `d` [e](http://f) @g';

/** Read by the program: changed, they would be another document. */
const READ = new Set([
  'schema',
  'verdict',
  'unit',
  'model',
  'histogram',
  'key',
  'metric',
  'startedAt',
  'createdAt',
]);
const READ_AS = [/^(?:not )?(?:met|proven)$/, /^\d{4}-\d\d-\d\dT/];

/** Their keys are names of metrics, series and fields, and not of anything a server or a file may call its own. */
const NAMED = new Set(['operations', 'outcomes', 'outcomeDetails', 'failures', 'answers']);

/**
 * @param {any} value
 * @param {string} [field] that it is in
 * @returns {any} a copy with a command before and PLANTED behind every string, and in every key that is a name
 */
function plant(value, field = '') {
  if (typeof value === 'string') {
    return READ.has(field) || READ_AS.some((pattern) => pattern.test(value))
      ? value
      : `::warning ${value}${PLANTED}`;
  }
  if (Array.isArray(value)) return value.map((one) => plant(one, field));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, one]) => [
    NAMED.has(field) ? `${key}${PLANTED}` : key,
    plant(one, key),
  ]);
  return Object.fromEntries(entries);
}

/** One of each kind, and those with stages, errors, remarks and groups. */
const DOCUMENTS = {
  result: SAMPLES['requirement-not-met'],
  stages: SAMPLES.staged,
  invalid: SAMPLES['invalid-measurement'],
  'run-set': RUN_SETS['run-set-left-out'],
  comparison: COMPARISONS['compare-slower'],
  'comparison with warnings': COMPARISONS['compare-warnings'],
  search: await SEARCHES.search(),
  propagation: PROPAGATIONS['propagation-troubled'],
  'scenario-result': SCENARIOS['scenario-interrupted'],
  'scenario with errors': SCENARIOS['scenario-errors'],
  'scenario with stages': SCENARIOS['scenario-stages'],
};

/** Line breaks are the formats' own. */
const RAW = /(?!\n)[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const COMMAND = /^\s*::[a-z-]+|##\[/m;

for (const [name, document] of Object.entries(DOCUMENTS)) {
  const planted = plant(document);
  for (const [format, { kinds }] of Object.entries(reporters)) {
    if (!kinds.includes(kindOf(document))) continue;
    test(`${name}: ${format} escapes every string`, async () => {
      const text = (await renderDocument(format, planted)).replaceAll('\r\n', '\n');
      assert.doesNotMatch(text, RAW);
      if (format === 'json') return assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(planted)));
      assert.doesNotMatch(text, COMMAND);
      const hasStrings = !['hgrm', 'csv'].includes(format);
      if (hasStrings) assert.ok(/\\{1,4}u\\?\{1b\\?\}/.test(text), 'it is there, and visible');
      if (format === 'md') assertMarkdown(text);
      if (['html', 'junit'].includes(format)) assert.doesNotMatch(withoutCode(text), /<script>x/);
      if (format === 'html') assert.doesNotMatch(text, /<script/);
    });
  }
}

test('covers every kind of document', () => {
  assert.deepEqual(new Set(Object.values(DOCUMENTS).map((one) => kindOf(one))), new Set(DOCUMENT_KINDS));
});

test('only the program can colour the output', async () => {
  const text = await renderDocument('text', plant(DOCUMENTS.result), { color: true });
  assert.doesNotMatch(text.replace(/\p{Cc}\[(?:3[123]|39)m/gu, ''), RAW);
});

test('escaping leaves visible text unchanged, and is idempotent', () => {
  const once = sanitizeText(PLANTED);
  assert.equal(sanitizeText(once), once);
  for (const safe of ['http://[::1]:8200', 'a \u{1f600} \u4e16 e\u0301', 'C::d, 12:30', ''])
    assert.equal(sanitizeText(safe), safe);
});
