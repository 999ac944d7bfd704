/** Searches of a scenario, one after the other: what becomes of a signal and of a target that refuses. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { searchFiles, searchSteps } from '../../src/cli/scenario-run.js';
import { PkiLoadError, targetError } from '../../src/common/errors.js';
import { assertRefused, scratch, startBatch } from './support.js';

/**
 * @param {string[]} names of steps
 * @param {(name: string, heard: AbortController) => number} act exit code of a search
 * @param {{refused?: Map<number, PkiLoadError>, signalled?: boolean}} [how] `signalled`: before the first
 */
async function searched(names, act, { refused = new Map(), signalled = false } = {}) {
  /** @type {string[]} */
  const begun = [];
  const heard = new AbortController();
  if (signalled) heard.abort();
  const interrupt = { stop: heard.signal };
  const code = await searchSteps(
    /** @type {any} */ ({
      steps: names.map((name) => ({
        name,
        plan: { operation: name },
        token: null,
        searchSettings: { of: 'rate' },
      })),
      outs: names.map((name) => [`r-${name}.json`]),
      settings: { quiet: true, out: ['r.json'] },
    }),
    refused,
    /** @type {any} */ (interrupt),
    undefined,
    async ({ operation }, { settings: { out }, interrupt: own }) => {
      begun.push(operation);
      assert.deepEqual([out, own], [[`r-${operation}.json`], interrupt]);
      return act(operation, heard);
    },
  );
  return { code, begun };
}

test('returns the worst exit code', async () => {
  const { code, begun } = await searched(['a', 'b', 'c'], (name) => (name === 'b' ? 99 : 0));
  assert.deepEqual([code, begun], [99, ['a', 'b', 'c']]);
});

test('continues on other targets after a refusal', async () => {
  const refuse = (/** @type {string} */ name) => {
    if (name === 'a') throw targetError('no', 'No.');
    return 0;
  };
  assert.deepEqual(await searched(['a', 'b'], refuse), { code: 2, begun: ['a', 'b'] });
  const refused = new Map([[0, targetError('no', 'No.')]]);
  assert.deepEqual(await searched(['a', 'b'], () => 0, { refused }), { code: 2, begun: ['b'] });
});

/** @param {number} code */
const interruptedWith = (code) => (/** @type {string} */ _name, /** @type {AbortController} */ heard) => {
  heard.abort();
  return code;
};

test('a signal at the end of a complete search: no further search starts (130)', async () => {
  assert.deepEqual(await searched(['a', 'b'], interruptedWith(0)), { code: 130, begun: ['a'] });
});

test('a signal while a target refuses: the same', async () => {
  const act = (/** @type {string} */ _name, /** @type {AbortController} */ heard) => {
    heard.abort();
    throw targetError('no', 'No.');
  };
  assert.deepEqual(await searched(['a', 'b'], act), { code: 130, begun: ['a'] });
});

test('a signal at the end of the last search keeps its exit code', async () => {
  assert.deepEqual(await searched(['a'], interruptedWith(99)), { code: 99, begun: ['a'] });
});

test('a signal before the first search: none starts', async () => {
  for (const names of [['a'], ['a', 'b']]) {
    assert.deepEqual(await searched(names, () => 0, { signalled: true }), { code: 130, begun: [] });
  }
});

describe('formats for one document', () => {
  const run = startBatch({ after });
  for (const [format, extension] of [
    ['json', 'json'],
    ['junit', 'xml'],
    ['html', 'html'],
  ]) {
    test(`${format} is rejected for several searches before sending`, async (t) => {
      const mix = [{ operation: 'token-lookup' }];
      const targets = ['one', 'two'].map((name) => ({ name, url: 'http://127.0.0.1:1' }));
      const file = scratch(t)('s.yaml', JSON.stringify({ name: 'Tiny', targets, mix }));
      for (const dry of [[], ['--dry-run']]) {
        assertRefused(
          await run(['run', file, '--max-concurrency', '2', '--format', format, ...dry]),
          new RegExp(
            `--format ${format} prints one document, but there are 2 searches\\. Use --out FILE\\.${extension}, which`,
          ),
        );
      }
    });
  }
  test('prints several as text or Markdown, one in any format', () => {
    for (const format of ['text', 'md']) {
      assert.deepEqual(searchFiles(['a', 'b'], { out: [], format }), [[], []]);
    }
    assert.deepEqual(searchFiles(['a'], { out: [], format: 'json' }), [[]]);
  });
});
