/** What nothing judged is said in every form that a document can be written in, and read back with it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { remarksOf } from '../../src/campaigns/scenario/scenario-steps.js';
import { withRemarks } from '../../src/cli/output.js';
import { renderDocument } from '../../src/report/index.js';
import { parseDocument } from '../../src/result/read-document.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { sampleSearch } from '../campaigns/search/sample.js';
import { runOf } from '../result/runs.js';
import { mixedRun, scenarioOf } from '../result/scenario-sample.js';

/** @import { Document } from '../../src/result/document.js' */

const SAID = 'its stages are left out, and the requirements on them are not judged: up: p99';
const remarks = remarksOf({ run: 'n', notJudged: ['up: p99<1s'] });

test('a step whose requirements are all judged has no remarks', () => {
  assert.deepEqual(remarksOf({ run: 'n', notJudged: [] }), []);
  const many = Array(200).fill(`${'up'.repeat(30)}: p99<1s`);
  assert.match(remarksOf({ run: 'n', notJudged: many }).join(), / and 190 more\.$/);
  const result = runOf(1, 0);
  assert.equal(withRemarks(result, []), result);
});

/** @type {Record<string, () => Document | Promise<Document>>} */
const DOCUMENTS = {
  'a result': () => runOf(1, 0),
  'a set of runs': () => createRunSet('n', [runOf(1, 0), runOf(1.1, 2)]),
  'the result of a scenario': () => scenarioOf({ one: [mixedRun(1, 0)], two: [mixedRun(1, 1)] }),
  'a search': () => sampleSearch(),
};

for (const [name, make] of Object.entries(DOCUMENTS)) {
  describe(`${name} contains the remark`, () => {
    for (const format of ['text', 'md', 'html', 'junit']) {
      test(`in ${format}`, async () => {
        const document = await make();
        const without = await renderDocument(format, document);
        assert.ok(!without.includes('not judged'));
        const text = await renderDocument(format, withRemarks(document, remarks));
        assert.ok(text.replace(/\s+/g, ' ').includes(SAID), text);
      });
    }

    test('in JSON, which can be read back', async () => {
      const document = withRemarks(await make(), remarks);
      const text = await renderDocument('json', document);
      assert.deepEqual(parseDocument(Buffer.from(text), 'r.json'), JSON.parse(JSON.stringify(document)));
      assert.ok(text.includes(SAID));
    });
  });
}
