/** --find-max-rate and --max-concurrency through the command line, on the embedded server. What they find is a matter of this machine. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodeOfSearch } from '../../src/cli/search.js';
import { parseDocument } from '../../src/result/read-document.js';
import { deferred } from '../deferred.js';
import { assertSearched, devServer, EC, environmentOf, runCli, scratch, serve, startCli } from './support.js';

/** @import { Search } from '../../src/result/search/search-schema.js' */
/** @import { TestContext } from 'node:test' */

/** @param {string} text @returns {Search} validated, its answer and its steps held against each other */
const searchIn = (text) => /** @type {Search} */ (parseDocument(Buffer.from(text), 'the search'));

const SHORT = ['--duration', '1s', '--pause', '100ms', '--require', 'p50<1s'];

/** Beside so many ms a busy machine's lateness is small: it invalidates no step, or the search would go down for minutes. */
const SLOW_MS = 100;

/**
 * A server in front of another that takes its time for what the load asks.
 *
 * @param {TestContext} t
 * @param {string} behind
 * @param {number} serviceMs
 * @param {{oneByOne?: boolean, before?: (asked: string) => Promise<unknown>}} [options]
 */
async function startSlow(t, behind, serviceMs, { oneByOne = false, before = async () => {} } = {}) {
  let last = Promise.resolve();
  const served = () => new Promise((resolve) => void setTimeout(() => resolve(undefined), serviceMs));
  return serve(t, async (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (/\/ocsp|\/data\//.test(String(request.url))) {
      last = oneByOne ? last.then(served) : served();
      await last;
    }
    const { method, headers } = request;
    await before(`${method} ${request.url}`);
    const token = headers['x-vault-token'];
    const answer = await fetch(`${behind}${request.url}`, {
      method,
      headers: {
        'content-type': String(headers['content-type'] ?? 'application/json'),
        ...(token === undefined ? {} : { 'x-vault-token': String(token) }),
      },
      body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
    }).catch(() => null);
    // Whoever asked may have gone, and the other server with it.
    if (answer === null) return void response.destroy();
    response.writeHead(answer.status, { 'content-type': String(answer.headers.get('content-type')) });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
}

/**
 * A server that says it is a Vault, as far as `token-lookup` asks.
 *
 * @param {TestContext} t
 */
async function startLookups(t) {
  const state = { isBusy: false };
  const url = await serve(t, (request, response) => {
    const isHealth = request.url === '/v1/sys/health';
    const isRefused = state.isBusy && !isHealth;
    response.writeHead(isRefused ? 503 : 200, { 'content-type': 'application/json' });
    const health = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
    const data = { id: 'a-token', policies: ['root'], expire_time: null, ttl: 0 };
    response.end(JSON.stringify(isRefused ? { errors: ['busy'] } : isHealth ? health : { data }));
  });
  return { state, env: { VAULT_ADDR: url, VAULT_TOKEN: 'a-token' } };
}

const LOOK_UPS = 'token-lookup --find-max-rate --rate 20 --duration 1s --require p50<1s'.split(' ');

describe('a search that ends early', { concurrency: 2 }, () => {
  test('a failing search reports it in files and summary, and names unwritable files', async (t) => {
    const { state, env } = await startLookups(t);
    const path = scratch(t);
    const [json, summary, folder] = [path('s.json'), path('summary.md'), path('gone')];
    writeFileSync(summary, 'Before.\n');
    mkdirSync(folder);
    // Arrivals are drawn anew for each step, which prepares for itself.
    const cli = startCli(
      [
        ...LOOK_UPS,
        '--arrivals',
        'poisson',
        '--pause',
        '3s',
        '--out',
        json,
        '--out',
        `${folder}/s.txt`,
        '--github-summary',
      ],
      { env: { ...env, GITHUB_STEP_SUMMARY: summary } },
    );
    await cli.shows(/^20\/s: /m);
    rmSync(folder, { recursive: true });
    state.isBusy = true;
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 2, stderr);
    assert.match(stdout, /The search failed, and no level was confirmed\./);
    assert.match(stderr, /^Warning: --out .*gone\/s\.txt cannot be written/m);
    const search = searchIn(readFileSync(json, 'utf8'));
    assert.deepEqual(
      [search.unfinished, search.interrupted, search.answer, search.why, search.steps.length],
      [undefined, false, null, 'broken off', 1],
    );
    const { code: why, text } = search.failure ?? {};
    assert.ok(why !== undefined && stderr.includes(String(text)), stderr);
    assert.match(
      readFileSync(summary, 'utf8'),
      /^Before\.\n[\s\S]*The search failed, and no level was confirmed\./,
    );
  });

  test('Ctrl-C twice between two steps, with a silent metrics receiver: still reports', async (t) => {
    const { env } = await startLookups(t);
    const receiver = await serve(t, () => {});
    const cli = startCli([...LOOK_UPS, '--pause', '100ms', '--otlp', `${receiver}/v1/metrics`], {
      env,
    });
    await cli.shows(/^20\/s: /m);
    cli.kill('SIGINT');
    await cli.prints(/The search was interrupted: no level was confirmed\./);
    // While the report is being printed, a signal ends the process: see printDocument.
    await sleep(1000);
    // The second is for what the first does not end: the receiver.
    cli.kill('SIGINT');
    const { code, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assert.match(stderr, /Interrupted: waiting/);
  });
});

/** Of a mount that a search has made for itself. */
const REMOVAL = /^DELETE .*\/sys\/mounts\//;
const MAKING = /^POST .*\/sys\/mounts\//;

/** Whoever reports only after the removal does not hang. @param {Promise<unknown>} shown */
const reportedWithin = (shown) => Promise.race([shown.then(() => true), sleep(10_000, false)]);

describe('on the embedded server', () => {
  const server = devServer();

  test('ocsp --find-max-rate: steps on standard error, the answer on standard output and in files', async (t) => {
    const slow = await startSlow(t, server.url, SLOW_MS);
    const path = scratch(t);
    const [json, html] = [path('s.json'), path('s.html')];
    const bounds = ['--rate', '120', '--max-rate', '240'];
    const { code, stdout, stderr } = await runCli(
      ['ocsp', ...EC, '--find-max-rate', ...bounds, ...SHORT, '--out', json, '--out', html],
      { env: { ...environmentOf(server), VAULT_ADDR: slow } },
    );
    assertSearched(code);
    const search = searchIn(readFileSync(json, 'utf8'));
    assert.equal(code, exitCodeOfSearch(search));
    assert.equal(search.unfinished, undefined);
    assert.equal(search.searched, 'rate');
    assert.ok(search.steps.length >= 2);
    assert.equal(search.steps[0].level, 120);
    assert.ok(search.steps.every(({ level }) => level <= 240));
    if (search.answer !== null) {
      assert.equal(search.confirmation?.load.ratePerSecond, search.answer.level);
      assert.equal(search.confirmation?.requirements[0].verdict, 'met');
      assert.notEqual(search.confirmation?.measurement.verdict, 'invalid');
    }
    if (search.answer !== null) assert.match(stdout, /^ {2}The highest rate is /m);
    assert.match(stderr, /^Step 1 \(coarse\): 120\/s for /m);
    assert.match(stderr, /^120\/s: (?:met|not )/m);
    // One preparation for all steps.
    assert.equal(stderr.match(/Issuing certificates with role/g)?.length, 1);
    assert.match(readFileSync(html, 'utf8'), /<h1>The highest rate is /);
  });

  test('ends a hopeless step early, and reports it', async (t) => {
    const slow = await startSlow(t, server.url, 100, { oneByOne: true });
    const out = scratch(t)('s.json');
    // p99 takes 598 requests: 30 s at that rate.
    const cli = startCli(
      ['ocsp', ...EC, '--find-max-rate', '--rate', '20', '--require', 'p99<200ms', '--out', out],
      { env: { ...environmentOf(server), VAULT_ADDR: slow } },
    );
    await cli.shows(/^20\/s: .*\n?.*\n?.*cut short after/m);
    cli.kill('SIGINT');
    assert.equal((await cli.ended).code, 130);
    const [step] = searchIn(readFileSync(out, 'utf8')).steps;
    assert.equal(step.verdict, 'not met');
    assert.match(step.reason, /^The step was cut short after .*p99<200ms could no longer be met/);
    assert.ok(step.requests < 500, `${step.requests}`);
  });

  test("creates the search's own store once, and removes it after the report", async (t) => {
    const shown = deferred();
    /** @type {unknown[]} */
    const reportedBefore = [];
    const slow = await startSlow(t, server.url, SLOW_MS, {
      async before(asked) {
        if (REMOVAL.test(asked)) reportedBefore.push(await reportedWithin(shown.promise));
      },
    });
    const list = async () => {
      const response = await fetch(`${server.url}/v1/sys/mounts`, {
        headers: { 'X-Vault-Token': server.token },
      });
      const { data } = /** @type {{data: object}} */ (await response.json());
      return Object.keys(data).sort();
    };
    const before = await list();
    const cli = startCli(
      [
        'kv-write',
        '--find-max-rate',
        '--rate',
        '100',
        '--max-rate',
        '100',
        ...SHORT,
        '--format',
        'json',
        '--quiet',
      ],
      { env: { ...environmentOf(server), VAULT_ADDR: slow } },
    );
    await cli.prints(/^\}\n$/m);
    shown.resolve();
    const { code, stdout } = await cli.ended;
    assertSearched(code);
    assert.ok(searchIn(stdout).steps.length >= 2);
    assert.deepEqual(await list(), before);
    assert.deepEqual(reportedBefore, [true]);
  });

  test('Ctrl-C while a step creates its own store: reports the previous step, then removes the store', async (t) => {
    const [begun, interrupted, shown] = [deferred(), deferred(), deferred()];
    let [making, removed] = [0, 0];
    /** @type {unknown[]} */
    const reportedBefore = [];
    const slow = await startSlow(t, server.url, SLOW_MS, {
      async before(asked) {
        if (MAKING.test(asked) && ++making === 2) {
          begun.resolve();
          await interrupted.promise;
        }
        if (REMOVAL.test(asked) && ++removed === 2) reportedBefore.push(await reportedWithin(shown.promise));
      },
    });
    const cli = startCli(['kv-write', '--find-max-rate', '--rate', '20', '--arrivals', 'poisson', ...SHORT], {
      env: { ...environmentOf(server), VAULT_ADDR: slow },
    });
    await begun.promise;
    cli.kill('SIGINT');
    await cli.shows(/Interrupted: waiting/);
    interrupted.resolve();
    await cli.prints(/The search was interrupted: no level was confirmed\./);
    shown.resolve();
    assert.equal((await cli.ended).code, 130);
    assert.deepEqual(reportedBefore, [true]);
  });
});
