/** Files that cannot be written when the run ends. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { assertDone, devServer, EC, environmentOf, rightResult, scratch, startCli } from './support.js';

const server = devServer();

test('a failing output is reported, and the others are written', async (t) => {
  const path = scratch(t);
  const [gone, there] = [path('gone'), path('r.json')];
  mkdirSync(gone);
  const outs = ['--out', `${gone}/r.json`, '--out', there];
  const cli = startCli(['ocsp', ...EC, '--duration', '5s', ...outs], { env: environmentOf(server) });
  await cli.shows(/^\d+ s/m);
  rmSync(gone, { recursive: true, force: true });
  const ended = await cli.ended;
  assertDone(ended, 1);
  assert.match(
    ended.stderr,
    /^vault-pki-load: --out .*gone\/r\.json cannot be written: its directory was not found\./m,
  );
  assert.match(ended.stdout, /^ {2}[\d,]+ of [\d,]+ .* good/m);
  assert.ok(rightResult(readFileSync(there, 'utf8')).totals.succeeded > 0);
});

test('a failing output does not hide a missed requirement', async (t) => {
  const gone = scratch(t)('gone');
  mkdirSync(gone);
  const args = ['ocsp', ...EC, '--duration', '5s', '--require', 'rate>=1e9/h', '--out', `${gone}/r.md`];
  const cli = startCli(args, { env: environmentOf(server) });
  await cli.shows(/^\d+ s/m);
  rmSync(gone, { recursive: true, force: true });
  const ended = await cli.ended;
  assertDone(ended, 99);
  assert.match(ended.stderr, /^vault-pki-load: --out .*gone\/r\.md cannot be written/m);
});
