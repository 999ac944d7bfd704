/** The experiments of examples/ in their short form, and what must hold of their results whatever the target. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkResult } from '../../src/result/check/check.js';
import { assertNoStack, runCli } from '../cli/support.js';
/** @import { Result } from '../../src/result/schema.js' */

/**
 * Runs of one target, by name, and variables that make them short: the same lines stand in their READMEs.
 *
 * @type {Readonly<Record<string, {runs: string[], targets: string[], short: Record<string, string>}>>}
 */
export const EXPERIMENTS = Object.freeze({
  'vault-ocsp-load-test': {
    runs: ['issuance', 'ocsp', 'issuance peak', 'ocsp peak'],
    targets: [],
    short: { DURATION: '6s', STEP: '500ms', ROLE: 'example-dot-com-ec' },
  },
  'enterprise-vs-oss': {
    runs: [],
    targets: ['A', 'B'],
    short: { DURATION: '1s', REPEAT: '4', PAUSE: '100ms' },
  },
  cerberus: {
    runs: ['burst, 95 % reads', 'burst, 90 % reads', 'write heavy', 'continuous increase', 'invalid traffic'],
    targets: [],
    short: { RAMP: '500ms', STEADY: '3s', STEP: '500ms' },
  },
  constellation: {
    runs: [],
    targets: ['A', 'B', 'C'],
    short: { CONCURRENCY: '100', DURATION: '1s', REPEAT: '2', PAUSE: '100ms' },
  },
  'storage-backends': {
    runs: ['write', 'read'],
    targets: ['inmem', 'file', 'raft', 'postgresql'],
    short: { WRITES: '500', READS: '200', REPEAT: '1' },
  },
});

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A machine too busy to measure makes runs invalid, and too few requests prove little: neither is a fault of an example. */
const CODES = [0, 98, 99];

/**
 * @param {string} name
 * @param {{env?: Record<string, string>, args?: string[], short?: Record<string, string>}} [how]
 * @returns {Promise<{summary: any, results: {name: string, document: any}[], stdout: string}>} `results`: a result or a set of runs for each
 *   run on each target
 */
export async function runExperiment(name, { env = {}, args = [], short = {} } = {}) {
  const experiment = EXPERIMENTS[name];
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-experiment-'));
  try {
    const out = join(folder, 'result.json');
    const allowed = ['--allow-env', 'ROLE'];
    const ended = await runCli(
      ['run', join(ROOT, 'examples', `${name}.yaml`), '--quiet', '--out', out, ...allowed, ...args],
      { env: { ...experiment.short, ...short, ...env } },
    );
    assert.ok(CODES.includes(ended.code ?? -1), `${name}: ${ended.code} ${ended.stderr}\n${ended.stdout}`);
    assertNoStack(ended.stderr);
    const { runs, targets } = experiment;
    const names = (runs.length === 0 ? [''] : runs).flatMap((run) =>
      (targets.length === 0 ? [''] : targets).map((target) =>
        [run, target].filter((one) => one !== '').join('-'),
      ),
    );
    const results = names.map((one) => {
      const plain = one
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '-')
        .replace(/^-|-$/g, '');
      return { name: one, document: JSON.parse(readFileSync(join(folder, `result-${plain}.json`), 'utf8')) };
    });
    for (const { name: one, document } of results)
      for (const result of resultsIn(document)) assertSound(one, result);
    return { summary: JSON.parse(readFileSync(out, 'utf8')), results, stdout: ended.stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {any} document a result, or a set of runs @returns {Result[]} */
export function resultsIn(document) {
  return document.schema === 'vault-pki-load/result/1'
    ? [document]
    : document.runs.map((/** @type {any} */ run) => run.result ?? run);
}

/** @param {string} name @param {Result} result */
function assertSound(name, result) {
  assert.deepEqual(checkResult(result), [], name);
  const { planned, sent, dropped, neverSent, succeeded, failed } = result.totals;
  assert.ok(sent > 0, `${name}: nothing was sent`);
  assert.equal(sent + dropped + neverSent, planned, name);
  assert.equal(succeeded + failed, sent, name);
}
