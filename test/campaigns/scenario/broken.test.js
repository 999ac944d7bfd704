/**
 * Scenarios that are wrong, each in one way, with all that is said of it. In broken.txt each takes two lines: its text, with \n for a
 * line break, {HEAD} and {TOKEN} for what is below, and its environment behind #; then line, column and message. A + in front: a
 * schema cannot know it, as it is a rule between several places, or of what a text says.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { schemaOf } from '../../../src/cli/schema.js';
import { EXIT, PkiLoadError } from '../../../src/common/errors.js';
import { runCli, scratch } from '../../cli/support.js';
import { HEAD, readAndPlan } from './read.js';
import { compileForText } from './schema-check.js';

const TOKEN = `hvs.${'CAESIJ1x'.repeat(4)}`;

/** @param {string} line */
const filled = (line) => line.replaceAll('{HEAD}', HEAD.replaceAll('\n', '\\n')).replaceAll('{TOKEN}', TOKEN);

const LINES = readFileSync(new URL('broken.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const TABLE = LINES.flatMap((line, i) => {
  if (i % 2 === 1) return [];
  const [, sign, escaped, env = '{}'] = /^([+-]) (.*?)(?: {2}# (\{.*\}))?$/.exec(line) ?? assert.fail(line);
  const text = JSON.parse(`"${filled(escaped).replaceAll('"', '\\"')}"`);
  return [
    {
      text,
      env: JSON.parse(filled(env)),
      looksRight: sign === '+',
      says: `s.yaml:${LINES[i + 1].trimStart()}`,
    },
  ];
});

const NO_TEXT = 's.yaml: The file is not UTF-8 text. A scenario is YAML or JSON; save it as UTF-8.';
/** Too odd for a line. @type {[text: string, says: string][]} */
const ODD = [
  ['\u007fELF\u0002\u0001\u0001\u0000\u0000', NO_TEXT],
  [`name: caf\ufffd\n${HEAD}`, NO_TEXT],
  [`# ${'x'.repeat(200_000)}\n`, 's.yaml: The file exceeds 100000 characters. To read a result, use report.'],
  [`name: ${'['.repeat(50_000)}`, 's.yaml: The values are nested too deeply. Use fewer levels.'],
];

const check = compileForText(await schemaOf('scenario'));

/** @param {string} text @param {string} says @param {Record<string, string>} [env] */
const assertSays = (text, says, env) =>
  assert.rejects(
    () => readAndPlan(text, { env }),
    (error) => {
      assert.ok(error instanceof PkiLoadError, String(/** @type {Error} */ (error).stack));
      assert.equal(error.full, says);
      assert.deepEqual([error.code, error.exitCode], ['bad_scenario', EXIT.usage]);
      assert.ok(!error.full.includes(TOKEN));
      return true;
    },
  );

describe('a broken scenario: the message has the place and a remedy', () => {
  for (const { text, env, says, looksRight } of TABLE) {
    test(says.slice(0, 90), async () => {
      await assertSays(text, says, env);
      if (!/alias/i.test(says)) assert.equal(check(text) === null, looksRight, 'verdict of the schema');
    });
  }
  for (const [text, says] of ODD) test(says, () => assertSays(text, says));
});

test('the command prints the same message, and exits with 1', async (t) => {
  const path = scratch(t)('s.yaml', `${HEAD}load:\n  raet: 5\n`);
  const { code, stdout, stderr } = await runCli(['run', path, '--dev']);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(
    stderr,
    /^vault-pki-load: \S*s\.yaml:4:3: load\.raet: is not a valid key\. Did you mean rate\? [^\n]+\n$/,
  );
});
