/** A short run of each of the other commands on the embedded server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { exitCodeOfSearch } from '../../src/cli/search.js';
import { validatePropagation } from '../../src/result/propagation/propagation-schema.js';
import { parseDocument } from '../../src/result/read-document.js';
import {
  assertDone,
  assertNoStack,
  assertSearched,
  devServer,
  EC,
  environmentOf,
  rightResult,
  runCli,
  scratch,
  startCli,
} from './support.js';

const server = devServer();

/** @param {string[]} args */
const cli = (...args) => runCli(args, { env: environmentOf(server) });

test('run: a mix of two operations in a stage, into files of several formats', async (t) => {
  const path = scratch(t);
  const file = path(
    'day.yaml',
    `name: day
load: {rate: 40, duration: 1s, seed: 3}
mix:
  - {operation: issue, weight: 1, options: {role: example-dot-com-ec}}
  - {operation: ocsp, weight: 3, options: {role: example-dot-com-ec}}
require: ['errors<50%']
`,
  );
  const outs = ['json', 'html', 'md', 'txt', 'csv', 'xml', 'prom'].map((extension) => path(`r.${extension}`));
  const ended = await cli('run', file, ...outs.flatMap((out) => ['--out', out]));
  assertDone(ended);
  const result = rightResult(readFileSync(outs[0], 'utf8'));
  assert.equal(result.totals.succeeded, 40);
  assert.deepEqual(Object.keys(result.operations).sort(), ['issue', 'ocsp']);
  for (const out of outs) assert.match(readFileSync(out, 'utf8'), /40/, out);
});

test('--shard and merge: two parts become one result', async (t) => {
  const path = scratch(t);
  const files = [path('p0.json'), path('p1.json')];
  const load = ['--rate', '20/s', '--requests', '10', '--seed', '11'];
  for (const [k, file] of files.entries()) {
    assertDone(await cli('issue', ...EC, ...load, '--shard', `${k}/2`, '--out', file, '--quiet'));
  }
  const { totals, shard } = rightResult((await runCli(['merge', ...files, '--format', 'json'])).stdout);
  assert.deepEqual([totals.planned, totals.succeeded, shard], [10, 10, undefined]);
});

test('propagation: observes every revocation', async () => {
  const { code, stdout, stderr } = await cli(
    ...['propagation', ...EC, '--pause', '0', '--certificates', '2', '--format', 'json', '--quiet'],
  );
  assertNoStack(stderr);
  assert.ok(code === 0 || code === 98, stderr);
  const { certificates } = validatePropagation(JSON.parse(stdout));
  assert.deepEqual(certificates, { planned: 2, begun: 2, outcomes: { revoked: 2 } });
});

test('Ctrl-C: reports the results so far, exit code 130', async () => {
  const run = startCli(['ocsp', ...EC, '--rate', '50/s', '--duration', '10m', '--format', 'json'], {
    env: environmentOf(server),
  });
  await run.shows(/^\d+ s\//m);
  run.kill('SIGINT');
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 130, stderr);
  const { interrupted, totals } = rightResult(stdout);
  assert.ok(interrupted && totals.succeeded > 0 && totals.failed === 0);
});

test('the embedded server of dev ends on Ctrl-C with exit code 0', async () => {
  const cli = startCli(['dev', '--port', '0', '--ca-key-type', 'ec']);
  await Promise.race([cli.ended, cli.prints(/Press Ctrl-C to stop it\./)]);
  cli.kill('SIGINT');
  const { code, stdout, stderr } = await cli.ended;
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /for tests only[\s\S]*Listening on http:\/\/127\.0\.0\.1:\d+; roles: example-dot-com, /,
  );
});

test('issue --max-concurrency: a peak, without a requirement', async () => {
  const steps = ['--duration', '300ms', '--pause', '100ms'];
  const { code, stdout } = await cli(
    ...['issue', ...EC, '--max-concurrency', '1', ...steps, '--format', 'json', '--quiet'],
  );
  assertSearched(code);
  const search = /** @type {any} */ (parseDocument(Buffer.from(stdout), 'the search'));
  assert.equal(search.searched, 'concurrency');
  assert.equal(code, exitCodeOfSearch(search));
  assert.ok(search.steps.every((/** @type {any} */ { level }) => level === 1));
  if (search.answer !== null) assert.ok(search.answer.perSecond > 0);
});
