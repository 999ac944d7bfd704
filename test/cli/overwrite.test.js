import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { refuseOverwrite } from '../../src/cli/output.js';
import { PkiLoadError } from '../../src/common/errors.js';
import { startBatch } from './support.js';

const run = startBatch({ after });

const folder = mkdtempSync(join(tmpdir(), 'vpl-overwrite-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const at = (/** @type {string[]} */ ...names) => join(folder, ...names);
mkdirSync(at('inner'));
for (const name of ['a.json', 'b.json']) writeFileSync(at(name), '{}');
symlinkSync(at('a.json'), at('link.json'));
symlinkSync(folder, at('inner', 'up'));
symlinkSync(at('gone.json'), at('nowhere.json'));
linkSync(at('a.json'), at('hard.json'));

describe('refuseOverwrite accepts', () => {
  /** @type {[string, string[], string[]][]} what, --out, files */
  const TAKEN = [
    ['no outputs', [], [at('a.json')]],
    ['a new file', [at('c.json')], [at('a.json')]],
    ['another file', [at('b.json')], [at('a.json')]],
    ['a file of the same name in another folder', [at('inner', 'a.json')], [at('a.json')]],
    ['a dangling link', [at('nowhere.json')], [at('a.json')]],
    ['a hard link, which the new file replaces', [at('hard.json')], [at('a.json')]],
    ['a device', ['/dev/null'], ['/dev/null']],
    ['a file, with standard input that is not a file', [at('a.json')], ['-']],
  ];
  for (const [what, outputs, inputs] of TAKEN) test(what, () => refuseOverwrite(outputs, inputs));

  /** @type {[string, string[], string[], RegExp][]} */
  const REFUSED = [
    [
      'the file itself',
      [at('a.json')],
      [at('b.json'), at('a.json')],
      /a\.json is also an input or --keep file of this command/,
    ],
    [
      'a new file that the command keeps',
      [at('new.json')],
      [at('new.json')],
      /new\.json is also an input or --keep file of this command/,
    ],
    [
      'the second --out',
      [at('c.html'), at('a.json')],
      [at('a.json')],
      /a\.json is also an input or --keep file of this command/,
    ],
    [
      'by another way',
      [at('inner', '..', 'a.json')],
      [relative('.', at('a.json'))],
      /is the same file as .*a\.json/,
    ],
    ['by a link', [at('link.json')], [at('a.json')], /link\.json is the same file as .*a\.json, and/],
    ['of a link', [at('a.json')], [at('link.json')], /a\.json is the same file as .*link\.json/],
    ['in a linked folder', [at('inner', 'up', 'b.json')], [at('b.json')], /is the same file as .*b\.json/],
  ];
  for (const [what, outputs, inputs, message] of REFUSED) {
    test(`but rejects ${what}`, () => {
      assert.throws(
        () => refuseOverwrite(outputs, inputs),
        (error) => {
          assert.ok(error instanceof PkiLoadError, String(error));
          assert.deepEqual([error.code, error.exitCode], ['out_is_input', 1]);
          assert.match(error.full, message);
          assert.match(error.full, /would be overwritten\. Write to another file\.$/);
          return true;
        },
      );
    });
  }
});

describe('files that a run reads are not overwritten', () => {
  writeFileSync(
    at('s.yaml'),
    `name: n\nmix: [{operation: http, options: {method: POST, body-file: '${at('a.json')}'}}]\n`,
  );
  /** @type {string[][]} */
  const LINES = [
    ['http', '--method', 'POST', '--body-file', at('a.json')],
    ['issue', '--ca-cert', at('a.json')],
    ['propagation', '--ca-cert', at('a.json')],
    ['run', at('s.yaml')],
  ];
  for (const line of LINES) {
    test(line[0], async () => {
      const { code, stderr } = await run([...line, '--dev', '--out', at('a.json')]);
      assert.match(
        stderr,
        /a\.json is also an input or --keep file of this command, and would be overwritten/,
      );
      assert.equal(code, 1);
    });
  }

  test('nor files that environment variables name', async () => {
    const env = { VAULT_CACERT: at('a.json'), GITHUB_STEP_SUMMARY: at('sum.md') };
    for (const file of ['a.json', 'sum.md']) {
      const { stderr } = await run(['health', '--github-summary', '--out', at(file)], { env });
      assert.match(stderr, /^vault-pki-load: --out .* is also an input /);
    }
  });

  test('nor does --keep append to a key', async () => {
    const line = ['issue', '--role', 'r', '--client-key', at('a.json'), '--keep', at('a.json')];
    const { stderr } = await run(line);
    assert.match(stderr, /^vault-pki-load: --keep .*a\.json is also an input /);
  });

  test('nor does --keep append to the scenario', async () => {
    const scenario = at('kept.yaml');
    writeFileSync(scenario, `name: n\nmix: [{operation: issue, options: {keep: '${scenario}'}}]\n`);
    const { stderr } = await run(['run', scenario, '--dev', '--dry-run']);
    assert.match(stderr, /^vault-pki-load: --keep .*kept\.yaml is also an input /);
  });
});
