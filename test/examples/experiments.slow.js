/** The experiments of examples/ on the embedded server, very short; on real Vaults: test/vault/examples.vault.js. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { runCli } from '../cli/support.js';
import { EXPERIMENTS, resultsIn, runExperiment } from './scenarios.js';

const FOLDER = new URL('../../examples/', import.meta.url);

/** Shorter still than the short form: what is measured is no matter here. @type {Record<string, Record<string, string>>} */
const SHORTER = {
  'vault-ocsp-load-test': { DURATION: '1s', STEP: '200ms' },
  'enterprise-vs-oss': { DURATION: '500ms', REPEAT: '1' },
  cerberus: { RAMP: '200ms', STEADY: '500ms', STEP: '200ms' },
  constellation: { CONCURRENCY: '20', DURATION: '500ms', REPEAT: '1' },
  'storage-backends': { WRITES: '50', READS: '20' },
};

describe('with --dev nothing fails:', { concurrency: 2 }, () => {
  for (const name of Object.keys(EXPERIMENTS)) {
    test(name, async () => {
      const { results } = await runExperiment(name, { args: ['--dev'], short: SHORTER[name] });
      for (const { name: one, document } of results) {
        for (const { totals, outcomes, target } of resultsIn(document)) {
          assert.equal(totals.failed, 0, `${one}: ${JSON.stringify(outcomes)}`);
          assert.equal(target.product, 'vault-pki-load dev', one);
        }
      }
    });
  }
});

describe('each has a README', () => {
  test('and there is none without a scenario', () => {
    const named = (/** @type {string} */ extension) =>
      readdirSync(FOLDER)
        .filter((file) => file.endsWith(extension) && file !== `README${extension}`)
        .map((file) => file.slice(0, -extension.length))
        .sort();
    assert.deepEqual(named('.yaml'), Object.keys(EXPERIMENTS).sort());
    assert.deepEqual(named('.md'), named('.yaml'));
  });

  for (const [name, { short }] of Object.entries(EXPERIMENTS)) {
    test(`${name}: with the short form that is tested, and where its figures come from`, () => {
      const text = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8');
      const variables = Object.entries(short)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ');
      assert.ok(text.includes(`${variables} npx vault-pki-load run examples/${name}.yaml`), variables);
      assert.ok(text.includes(`npx vault-pki-load run examples/${name}.yaml --dev`));
      assert.match(text, /https:\/\//);
    });
  }
});

describe('what would be done', () => {
  for (const [name, { targets }] of Object.entries(EXPERIMENTS)) {
    test(`${name} says before it sends anything`, async () => {
      const tokens = Object.fromEntries(
        targets.map((target) => [`VAULT_TOKEN_${target.toUpperCase()}`, 'unused']),
      );
      const file = new URL(`${name}.yaml`, FOLDER).pathname;
      const { code, stdout, stderr } = await runCli(['run', file, '--dry-run'], {
        env: { VAULT_TOKEN: 'unused', ...tokens },
      });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^Sent +nothing \(dry run\)$/m);
    });
  }

  test('without the token of a target it is named', async () => {
    const file = new URL('enterprise-vs-oss.yaml', FOLDER).pathname;
    const { code, stderr } = await runCli(['run', file, '--dry-run'], { env: { VAULT_TOKEN_A: 'unused' } });
    assert.equal(code, 1);
    assert.match(stderr, /VAULT_TOKEN_B \(token-env\) is not set/);
  });
});
