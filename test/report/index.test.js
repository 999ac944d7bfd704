import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { renderDocument, reporterForFile, reporters } from '../../src/report/index.js';
import { sampleResult, spread } from '../result/sample.js';

/** @type {[string, string, string][]} */
const KNOWN = [
  ['by extension', 'r.json', 'json'],
  ['in another folder', '/tmp/a.b/r.txt', 'text'],
  ['in capital letters', 'R.JSON', 'json'],
  ['by the last extension', 'r.txt.json', 'json'],
  ['for JUnit', 'junit.xml', 'junit'],
  ['for Prometheus', 'run.prom', 'prom'],
];

for (const [why, path, name] of KNOWN) {
  test(`finds a reporter ${why}: ${path}`, () => assert.equal(reporterForFile(path).name, name));
}

/** @type {[string, string, RegExp][]} */
const UNKNOWN = [
  ['an unknown extension', 'r.docx', /"r\.docx" has the unknown extension "\.docx"/],
  ['no extension', 'results', /"results" has no extension/],
  ['a hidden file', '.json', /"\.json" has no extension/],
  ['an empty name', '', /"" has no extension/],
];

for (const [why, path, message] of UNKNOWN) {
  test(`rejects ${why} and lists the known extensions`, () => {
    assert.throws(
      () => reporterForFile(path),
      (error) => {
        assert.ok(error instanceof PkiLoadError);
        assert.equal(error.code, 'unknown_report_format');
        assert.match(error.message, message);
        for (const { extension } of Object.values(reporters)) assert.ok(error.remedy?.includes(extension));
        return true;
      },
    );
  });
}

test('every reporter loads, has its own extension and writes text that ends with a newline', async () => {
  const result = sampleResult([{ outcome: 'good', service: spread(10, 1, 2) }]);
  const entries = Object.entries(reporters);
  assert.equal(new Set(entries.map(([, { extension }]) => extension)).size, entries.length);
  for (const [name, { kinds, describe }] of entries) {
    assert.match(await renderDocument(name, result), /[^\n]\n$/);
    assert.ok(kinds.includes('result'));
    assert.match(describe, /^\S.*[^.]$/);
  }
});

const REQUIREMENT = {
  ...{ text: 'p99<1s', verdict: /** @type {const} */ ('met'), actual: 2, limit: 1000 },
  ...{ unit: /** @type {const} */ ('ms'), reason: 'So.' },
};

test('rendering by name equals rendering by the reporter', async () => {
  const result = sampleResult([{ outcome: 'good', service: spread(10, 1, 2) }], {
    requirements: [REQUIREMENT],
  });
  const { render } = await reporters.text.load();
  assert.equal(await renderDocument('text', result, { color: true }), await render(result, { color: true }));
  assert.notEqual(await renderDocument('text', result), await render(result, { color: true }));
});

/** @type {[string, string, string[]][]} schema, how it is called, formats that cannot show it */
const REFUSING = [
  ['run-set', 'a set of runs', ['hlog', 'hgrm', 'prom']],
  ['comparison', 'a comparison', ['csv', 'hlog', 'hgrm', 'prom']],
  ['search', 'a search', ['csv', 'hlog', 'hgrm', 'prom']],
  ['propagation', 'a propagation measurement', ['hlog', 'hgrm', 'prom']],
  ['scenario-result', 'the result of a scenario', ['csv', 'hlog', 'hgrm', 'prom']],
];

for (const [kind, called, names] of REFUSING) {
  test(`a reporter for single results rejects other kinds, and names alternatives: ${kind}`, async () => {
    const document = /** @type {any} */ ({ schema: `vault-pki-load/${kind}/1` });
    const able = Object.entries(reporters).filter(([name]) => !names.includes(name));
    for (const name of names) {
      await assert.rejects(renderDocument(name, document), {
        name: 'PkiLoadError',
        code: 'cannot_report',
        message: `Format ${name}: ${called} cannot be written as ${reporters[name].extension}, a format for results of runs.`,
        remedy: `Use one of ${able.map(([, { extension }]) => extension).join(', ')}.`,
      });
    }
  });
}
