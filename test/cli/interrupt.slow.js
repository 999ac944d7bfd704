/** Ctrl-C and SIGTERM, at every stage: what was measured is reported and written, and the end comes soon. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred } from '../deferred.js';
import { cannedOcsp } from '../run/support.js';
import { startTarget } from '../targets/start.js';
import {
  assertNoStack,
  devServer,
  EC,
  environmentOf,
  rightResult,
  scratch,
  serve,
  startCli,
} from './support.js';

/** @import { TestContext } from 'node:test' */

const server = devServer();

/** @type {import('node:http').RequestListener} */
function forward(from, to) {
  const forwarded = request(`${server.url}${from.url}`, { method: from.method, headers: from.headers });
  forwarded.on('response', (response) => {
    to.writeHead(Number(response.statusCode), response.headers);
    response.pipe(to);
  });
  from.pipe(forwarded);
}

/** Longer than anybody waits: a run that is not interrupted is found out. */
const LONG = ['--duration', '10m'];

describe('the first signal', { concurrency: 2 }, () => {
  /** @type {[string, NodeJS.Signals, string[]][]} */
  const TABLE = [
    ['Ctrl-C in an open loop', 'SIGINT', ['issue', ...EC, '--rate', '50/s']],
    ['Ctrl-C with two threads', 'SIGINT', ['ocsp', ...EC, '--rate', '100/s', '--threads', '2']],
    ['SIGTERM in an open loop', 'SIGTERM', ['issue', ...EC, '--rate', '50/s']],
  ];
  for (const [what, signal, args] of TABLE) {
    test(`${what}: exit code 130, everything reported and written`, async (t) => {
      const path = scratch(t);
      const [json, text, keep] = [path('r.json'), path('r.txt'), path('kept.jsonl')];
      const keeping = args[0] === 'issue' ? ['--keep', keep] : [];
      const cli = startCli([...args, ...LONG, ...keeping, '--format', 'json', '--out', json, '--out', text], {
        env: environmentOf(server),
      });
      await cli.shows(/^\d+ s\//m);
      cli.kill(signal);
      const { code, stdout, stderr } = await cli.ended;
      assert.equal(code, 130, stderr);
      assertNoStack(stderr);
      assert.match(
        stderr,
        /Interrupted: waiting for the last responses, then reporting\. Press\s+Ctrl-C\s+again/,
      );
      const result = rightResult(stdout);
      assert.deepEqual(rightResult(readFileSync(json, 'utf8')), result);
      assert.match(readFileSync(text, 'utf8'), /Interrupted: the figures cover the time until then\./);
      assert.equal(result.interrupted, true);
      assert.ok(result.totals.succeeded > 0);
      assert.equal(result.totals.failed, 0, 'what was in flight was waited for');
      if (keeping.length > 0) {
        const lines = readFileSync(keep, 'utf8').trim().split('\n');
        assert.equal(lines.length, result.totals.succeeded);
      }
    });
  }
});

describe('a target that never responds', { concurrency: 2 }, () => {
  /**
   * @param {TestContext} t
   * @param {string[]} load
   * @param {number} inFlight requests that it keeps unanswered, all that there may be
   */
  async function startStuck(t, load, inFlight) {
    const { args, response } = cannedOcsp(t);
    const target = await startTarget({ behaviour: 'ok', body: response });
    t.after(() => target.stop());
    const whole = [...args, '--ocsp-url', target.url, '--timeout', '10m', '--format', 'json'];
    const cli = startCli([...whole, ...load, ...LONG]);
    await cli.shows(/^\d+ s/m);
    await target.behave('silent');
    const unanswered = async () => (await target.arrivals()).filter(({ answeredNs }) => answeredNs === null);
    while ((await unanswered()).length < inFlight) await sleep(20);
    return cli;
  }

  test('the second Ctrl-C aborts requests in flight and reports their age', async (t) => {
    const cli = await startStuck(t, ['--rate', '50/s', '--concurrency', '3'], 3);
    await cli.shows(/[1-9]\d* waiting/);
    cli.kill('SIGINT');
    await cli.shows(/Interrupted: waiting/);
    cli.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assertNoStack(stderr);
    const result = rightResult(stdout);
    assert.equal(result.interrupted, true);
    assert.equal(result.outcomes.cut_off, 3);
    assert.ok(result.outcomes.never_sent > 0, 'those that were due and waiting are counted');
  });

  test('three in a row end the process at once', async (t) => {
    const cli = await startStuck(t, ['--concurrency', '4'], 4);
    cli.kill('SIGINT');
    await cli.shows(/Interrupted: waiting/);
    // Two of a kind that are pending at once arrive as one.
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) cli.kill(signal);
    const { signal, stderr } = await cli.ended;
    assert.equal(signal, 'SIGINT');
    assertNoStack(stderr);
  });
});

describe('a removal that the target does not confirm', { concurrency: 2 }, () => {
  /** @param {TestContext} t @param {(cli: ReturnType<typeof startCli>, confirm: () => void) => Promise<void>} act once it is requested */
  async function stallRemoval(t, act, duration = LONG) {
    const [removed, confirmed] = [deferred(), deferred()];
    const url = await serve(t, async (from, to) => {
      if (from.method === 'DELETE') {
        removed.resolve();
        await confirmed.promise;
      }
      forward(from, to);
    });
    const file = scratch(t)('r.json');
    const load = ['--rate', '50/s', ...duration, '--format', 'json', '--out', file];
    const cli = startCli(['kv-write', '--url', url, ...load], { env: environmentOf(server) });
    if (duration === LONG) {
      await cli.shows(/^\d+ s\//m);
      cli.kill('SIGINT');
    }
    await removed.promise;
    await cli.prints(/^}$/m);
    const written = readFileSync(file, 'utf8');
    // While standard output is written, a signal ends the process.
    await sleep(500);
    await act(cli, confirmed.resolve);
    const ended = await cli.ended;
    assertNoStack(ended.stderr);
    assert.deepEqual(rightResult(written), rightResult(ended.stdout));
    return { ...ended, stderr: ended.stderr.replace(/\s+/g, ' ') };
  }

  test('the report comes first, and the second Ctrl-C ends the wait', async (t) => {
    const { code, stderr } = await stallRemoval(t, async (cli) => void cli.kill('SIGINT'));
    assert.equal(code, 130, stderr);
    assert.match(
      stderr,
      /Left behind: the secrets engine (vault-pki-load-kv-\w+), .* Remove it at \S+ with vault secrets disable \1, or with vault-pki-load teardown/,
    );
  });

  test('without a signal, the report also comes first; the program ends once it is confirmed', async (t) => {
    const { code, stderr } = await stallRemoval(t, async (_, confirm) => confirm(), ['--duration', '1s']);
    assert.ok(code === 0 || code === 98, stderr);
    assert.doesNotMatch(stderr, /Left behind/);
  });

  test('after the report, the first signal is acknowledged and the second ends the wait', async (t) => {
    const act = async (/** @type {ReturnType<typeof startCli>} */ cli) => {
      cli.kill('SIGINT');
      await cli.shows(/Removing what the tool created\. Press\s+Ctrl-C\s+again\s+to\s+stop\s+waiting/);
      cli.kill('SIGINT');
    };
    const { code, stderr } = await stallRemoval(t, act, ['--duration', '1s']);
    assert.ok(code === 0 || code === 98, stderr);
    assert.match(stderr, /Left behind: the secrets engine/);
  });
});

describe('before the first request', () => {
  test('while it creates a mount, which it may leave behind', async (t) => {
    const mounting = deferred();
    const url = await serve(t, (from, to) => {
      if (from.method !== 'POST' || !from.url?.startsWith('/v1/sys/mounts/')) forward(from, to);
      else mounting.resolve();
    });
    const cli = startCli(['kv-write', '--url', url, '--timeout', '1h'], { env: environmentOf(server) });
    await mounting.promise;
    cli.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /Left behind: the secrets engine vault-pki-load-kv-/);
    assertNoStack(stderr);
  });

  test('while a login hangs: the second Ctrl-C ends it, and the method that is left is named', async (t) => {
    const hanging = deferred();
    const url = await serve(t, (from, to) => {
      if (!from.url?.endsWith('/login')) forward(from, to);
      else hanging.resolve();
    });
    const cli = startCli(['approle-login', '--url', url, '--timeout', '1h'], { env: environmentOf(server) });
    await hanging.promise;
    cli.kill('SIGINT');
    await cli.shows(/Ctrl-C/);
    cli.kill('SIGINT');
    const { code, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assert.match(stderr, /Left behind: the auth method vault-pki-load-approle-/);
    assertNoStack(stderr);
  });

  test('while creating CSRs: one line, exit code 130, no file', async (t) => {
    const file = scratch(t)('r.json');
    const sign = ['--sign', '--key-type', 'rsa-2048', '--pool', '5000', '--role', 'example-dot-com'];
    const cli = startCli(['issue', ...sign, '--out', file], { env: environmentOf(server) });
    await cli.shows(/Creating CSRs/);
    cli.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /^vault-pki-load: Interrupted before anything was sent\.$/m);
    assertNoStack(stderr);
    assert.equal(existsSync(file), false);
  });

  test('while checking the target', async (t) => {
    const target = await startTarget({ behaviour: 'silent' });
    t.after(() => target.stop());
    const cli = startCli(['issue', '--url', target.url, '--timeout', '1h'], { env: { VAULT_TOKEN: 'x' } });
    while ((await target.arrivals()).length === 0);
    cli.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assert.equal(stdout, '');
    assertNoStack(stderr);
  });
});
