/** What parts must have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostAsked } from '../../src/campaigns/search/step-plan.js';
import { checkSameFound, differencesOf, planAsked } from '../../src/join/joined-plan.js';
import { MOST, planFor } from './support.js';

test('parts whose targets differ cannot run together, unless a target does not say what it is', () => {
  const own = { url: 'http://a', product: 'Vault', version: '1.21.0', proxy: null };
  for (const theirs of [own, { ...own, version: null }, { ...own, product: null, version: null }])
    checkSameFound(own, theirs, 'part 1 of 2');
  checkSameFound({ ...own, version: null }, own, 'part 1 of 2');
  for (const [theirs, differing] of /** @type {const} */ ([
    [{ ...own, version: '1.21.1' }, 'version ("1.21.0" and "1.21.1")'],
    [{ ...own, product: 'OpenBao', version: null }, 'product ("Vault" and "OpenBao")'],
    [{ ...own, url: 'http://b' }, 'url ("http://a" and "http://b")'],
    [{ ...own, proxy: '192.0.2.1:3128' }, 'proxy (null and "192.0.2.1:3128")'],
    [{}, 'url ("http://a" and null)'],
  ]))
    assert.throws(() => checkSameFound(own, theirs, 'part 1 of 2'), {
      code: 'different_targets',
      message: `Part 0 and part 1 of 2 found different targets: ${differing}. Nothing was sent.`,
    });
});

test('in a search, part 0 may ask for no more than its own options allow', async () => {
  const plan = await planFor('http://127.0.0.1:1', { rate: 50, duration: '10s', arrivals: 'poisson' });
  const most = mostAsked(plan, { of: 'rate', highest: 2000 });
  assert.deepEqual(most, { model: 'open', ratePerSecond: 2000, concurrency: 512, durationMs: 600_000 });
  const ask = (/** @type {object} */ load, limits = most) =>
    planAsked(plan, { ...plan, load: { ...plan.load, ...load } }, limits).load;
  assert.equal(ask({ ratePerSecond: 2000, concurrency: 512, durationMs: 30_000 }).ratePerSecond, 2000);
  const prepared = { model: 'closed', ratePerSecond: null, durationMs: null };
  assert.equal(ask(prepared).durationMs, null);
  const OTHER = /^part 0 asks for a load that no step of this search has$/;
  for (const [load, problem] of /** @type {const} */ ([
    [{ ratePerSecond: 2001 }, /^part 0 asks for --rate 2001, but .* allows 2000$/],
    [{ concurrency: 513 }, /allows 512$/],
    [{ durationMs: 600_001 }, /allows 600000$/],
    [{ requests: 10 }, OTHER],
    [{ ratePerSecond: null }, OTHER],
    [{ model: 'closed', ratePerSecond: null }, OTHER],
    [{ model: 'closed', ratePerSecond: null, durationMs: null, requests: 150 }, OTHER],
  ]))
    assert.throws(() => ask(load), { message: problem });
  const highest = mostAsked(plan, { of: 'rate', highest: 1e6 });
  const arrivals = { ratePerSecond: 1e6, durationMs: 600_000 };
  assert.throws(() => ask(arrivals, highest), /--arrivals poisson allows 100000000 arrivals/);
  assert.deepEqual(mostAsked(plan, { of: 'concurrency', highest: 8 }), {
    ...most,
    model: 'closed',
    ratePerSecond: 0,
    concurrency: 8,
  });
});

test('part 0 may choose the number of certificates to revoke only in a search, and only if the part has not', () => {
  const load = { ...MOST, requests: null, durationMs: 2000, seed: 1, ratePerSecond: null, concurrency: 2 };
  const planOf = (/** @type {string} */ operation, /** @type {number | null} */ pool) =>
    /** @type {any} */ ({ operation, options: { pool }, mix: null, load });
  const asked = (
    /** @type {string} */ operation,
    /** @type {number | null} */ own,
    /** @type {typeof MOST | null} */ most,
  ) => planAsked(planOf(operation, own), planOf(operation, 150), most).options.pool;
  assert.equal(asked('revoke', null, MOST), 150);
  for (const [operation, own, most] of /** @type {const} */ ([
    ['revoke', 3, MOST],
    ['ocsp', null, MOST],
    ['revoke', null, null],
    ['revoke', 3, null],
  ]))
    assert.throws(() => asked(operation, own, most), { message: /^--pool \((3|null) and 150\)$/ });
});

test('what differs is named by its option, requirements by their texts', async () => {
  const required = Array.from({ length: 9 }, (_, i) => `p${80 + i}<${100 + i}ms`);
  const given = { rate: 50, duration: '10s', seed: 1, require: required };
  const planOf = (/** @type {object} */ changes) => planFor('http://127.0.0.1:1', { ...given, ...changes });
  const own = await planOf({});
  for (const [changes, expected] of /** @type {const} */ ([
    [{}, null],
    [{ rate: 51, warmup: '1s' }, '--rate (50 and 51), --warmup (0 and 1000)'],
    [{ require: [...required.slice(0, 8), 'errors<1%'] }, '--require (p88<108ms and errors<1%)'],
    [{ require: required.toReversed() }, '--require (none and none)'],
    [{ path: '/other', timeout: '3s' }, '--timeout (10000 and 3000), --path ("/r/{n}" and "/other")'],
    [{ 'requests-per-connection': 4 }, '--requests-per-connection (null and 4)'],
  ]))
    assert.equal(differencesOf([own], [await planOf(changes)]), expected);
});

test('what differs is named in short, however long the other part made it', () => {
  const long = 'x'.repeat(1e6);
  const own = /** @type {any} */ ({ load: { rate: 1 }, requirements: [] });
  for (const [changes, expected] of /** @type {[object, RegExp][]} */ ([
    [{ [long]: 1 }, /^x{60}\.\.\. \(null and 1\)$/],
    [{ load: { rate: long } }, /^--rate \(1 and "x{59}\.\.\.\)$/],
    [{ requirements: [long] }, /^--require \(none and x{60}\.\.\.\)$/],
    [
      { requirements: Array.from({ length: 1000 }, (_, i) => `p99<${i}ms`) },
      /^--require \(none and p99<0ms, (p99<\dms, ){3}p99<4ms and 995 more\)$/,
    ],
  ]))
    assert.match(String(differencesOf([own], [{ ...own, ...changes }])), expected);
});
