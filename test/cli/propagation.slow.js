import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { checkPropagation, validatePropagation } from '../../src/result/propagation/propagation-schema.js';
import {
  assertNoStack,
  assertRefused,
  devServer,
  environmentOf,
  runCli,
  scratch,
  serve,
  startCli,
} from './support.js';

/** @import { Propagation } from '../../src/result/propagation/propagation-schema.js' */
/** @import { Ended } from './support.js' */
/** @import { TestContext } from 'node:test' */

const server = devServer();

const QUICK = ['propagation', '--role', 'example-dot-com-ec', '--pause', '0', '--quiet'];

/**
 * A busy machine is late, and says so: that is no failure here.
 *
 * @param {Ended} ended
 * @param {number} [expected]
 * @returns {Propagation}
 */
function foundBy({ code, stdout, stderr }, expected = 0) {
  assertNoStack(stderr);
  const found = validatePropagation(JSON.parse(stdout));
  assert.deepEqual([...checkPropagation(found)], []);
  const isLate = found.measurement.reasons.some(({ code: reason }) => reason === 'poll_lag');
  assert.ok(code === expected || (isLate && code === 98), `${code}: ${stderr}`);
  return found;
}

/**
 * A node in front of the server that answers about a certificate as it first did, for so long after: as a cache, or a replica that lags.
 *
 * @param {TestContext} t
 * @param {number} staleMs
 * @param {(body: Buffer) => Buffer} [change] what it answers
 */
function startStaleNode(t, staleMs, change = (body) => body) {
  /** By request. @type {Map<string, {body: Buffer, untilMs: number}>} */
  const kept = new Map();
  return serve(t, async (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = Buffer.concat(chunks);
    const key = asked.toString('hex');
    const known = kept.get(key);
    if (known !== undefined && performance.now() < known.untilMs) return void response.end(known.body);
    const answer = await fetch(`${server.url}${request.url}`, {
      method: request.method,
      headers: { 'content-type': String(request.headers['content-type'] ?? 'text/plain') },
      body: asked.length > 0 ? asked : undefined,
    });
    const body = change(Buffer.from(await answer.arrayBuffer()));
    if (known === undefined) kept.set(key, { body, untilMs: performance.now() + staleMs });
    response.writeHead(answer.status).end(body);
  });
}

test('--dev: revokes and observes every certificate, and reports in every format', async (t) => {
  const path = scratch(t);
  const files = ['p.json', 'p.txt', 'p.md', 'p.html', 'p.csv', 'p.xml'].map((name) => path(name));
  const ended = await runCli([
    ...QUICK,
    '--dev',
    '--certificates',
    '6',
    '--require',
    'max<50s',
    ...files.flatMap((file) => ['--out', file]),
    '--format',
    'json',
  ]);
  const found = foundBy(ended);
  assert.deepEqual(found.certificates, { planned: 6, begun: 6, outcomes: { revoked: 6 } });
  assert.deepEqual(found.nodes[0].outcomes, { revoked: 6 });
  assert.equal(found.crl.autoRebuild, null);
  assert.ok(files.every((file) => existsSync(file)));
  assert.deepEqual(JSON.parse(readFileSync(files[0], 'utf8')), found);
  const { stdout } = await runCli(['report', files[0]]);
  assert.equal(stdout, readFileSync(files[1], 'utf8'));
});

describe('nodes', () => {
  test('one slow, one fast: the delay of each, and of both', async (t) => {
    const node = await startStaleNode(t, 1500);
    const args = [...QUICK, '--certificates', '3', '--node', server.url, '--node', node, '--format', 'json'];
    const ended = await runCli(args, { env: environmentOf(server) });
    const { everywhere, nodes, rows } = foundBy(ended);
    const [fast, slow] = nodes.map(({ delay }) => delay.sinceSent);
    // It lags from when it was first asked, which is a little earlier than the revocation.
    assert.ok(Number(slow.upper.max) > 200, JSON.stringify(slow));
    assert.ok(Number(fast.upper.p50) < Number(slow.upper.p50));
    assert.ok(Number(slow.lower.min) > 0, 'it was seen good after the revocation');
    assert.equal(everywhere.revoked, 3);
    assert.ok(rows.every(({ nodes: own }) => own.length === 2));
  });

  test('one that never reports it: gives up; requirements not met', async (t) => {
    const node = await startStaleNode(t, 1e9);
    const args = [
      ...QUICK,
      '--certificates',
      '2',
      '--concurrency',
      '2',
      '--give-up',
      '500ms',
      '--node',
      node,
    ];
    const more = ['--require', 'max<400ms', '--require', 'errors<=0', '--format', 'json'];
    const ended = await runCli([...args, ...more], { env: environmentOf(server) });
    const found = foundBy(ended, 99);
    assert.deepEqual(found.certificates.outcomes, { never_revoked: 2 });
    assert.deepEqual(
      found.requirements.map(({ verdict }) => verdict),
      ['not met', 'not met'],
    );
  });

  test('one with bad signatures: not good before, so nothing is measured', async (t) => {
    const node = await startStaleNode(t, 0, (body) => {
      const changed = Buffer.from(body);
      if (changed.length > 0) changed[changed.length - 1] ^= 1;
      return changed;
    });
    const args = [...QUICK, '--certificates', '2', '--node', node, '--format', 'json'];
    const ended = await runCli(args, { env: environmentOf(server) });
    const found = foundBy(ended, 98);
    assert.deepEqual(found.certificates.outcomes, { not_good_before: 2 });
    assert.deepEqual(found.nodes[0].answers, { bad_signature: 2 });
    assert.equal(found.measurement.reasons[0].code, 'nothing_measured');
  });
});

test('Ctrl-C: reports and writes the results so far, exit code 130', async (t) => {
  const node = await startStaleNode(t, 1e9);
  const out = scratch(t)('p.json');
  const args = ['propagation', '--role', 'example-dot-com-ec', '--certificates', '50', '--give-up', '300ms'];
  const cli = startCli([...args, '--node', node, '--format', 'json', '--out', out], {
    env: environmentOf(server),
  });
  await cli.shows(/Certificates revoked and followed +\d+ of 50/);
  cli.kill('SIGINT');
  const { code, stdout, stderr } = await cli.ended;
  assert.equal(code, 130, stderr);
  const found = validatePropagation(JSON.parse(stdout));
  assert.deepEqual([...checkPropagation(found)], []);
  assert.equal(found.interrupted, true);
  assert.ok(found.certificates.begun < 50);
  assert.deepEqual(JSON.parse(readFileSync(out, 'utf8')), found);
  assert.match(stderr, /Interrupted: waiting for the last responses/);
});

describe('rejected', () => {
  /** @type {[string, string[], RegExp, number][]} */
  const cases = [
    ['a format that cannot show it', ['--format', 'prom'], /--format is "prom"/, 1],
    ['an unknown role', ['--role', 'nobody'], /nobody/, 2],
    ['a role with no_store', ['--role', 'example-dot-com-ec-no-store'], /no certificates \(no_store\)/, 1],
  ];
  for (const [sentence, args, message, code] of cases) {
    test(sentence, async () => {
      assertRefused(await runCli(['propagation', ...args], { env: environmentOf(server) }), message, code);
    });
  }
});

test('not a run: compare rejects it, and report accepts it only alone', async (t) => {
  const out = scratch(t)('p.json');
  await runCli([...QUICK, '--dev', '--certificates', '1', '--out', out]);
  const compared = await runCli(['compare', out, '--with', out]);
  assert.match(compared.stderr, /propagation measurement/);
  const reported = await runCli(['report', out, out]);
  assert.equal(reported.code, 1);
  assert.match(
    reported.stderr,
    /is a propagation measurement, not the result of a run\. .* or report this file on its own\./,
  );
});
