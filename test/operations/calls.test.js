/** approle-login, token-lookup, health and http: requests and verdicts. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { approleLogin as login } from '../../src/operations/approle-login.js';
import { health } from '../../src/operations/health.js';
import { http } from '../../src/operations/http.js';
import { createSerialMemory } from '../../src/operations/serial-set.js';
import { tokenLookup as lookup } from '../../src/operations/token-lookup.js';
import { assertAllSeen, assertRow, assertUsage, CALL, planOf, REFUSALS } from './calls-support.js';

/** @import { Row } from './calls-support.js' */

describe('approle-login', () => {
  const token = { client_token: 'hvs.x', accessor: 'a', token_type: 'service' };
  const auth = { ...token, policies: ['default'], lease_duration: 60 };
  /** @type {(sentence: string, changes: Record<string, unknown>, outcome: string) => Row} */
  const row = (sentence, changes, outcome) => [sentence, 200, { auth: { ...auth, ...changes } }, outcome];

  test('the request contains role ID and secret ID, and no token', () => {
    const fixture = { ...CALL, headers: {}, mount: 'ar', credentials: { role_id: 'r', secret_id: 's' } };
    assert.deepEqual(login.createRequester(planOf(login), fixture)(0), {
      method: 'POST',
      path: '/base/v1/auth/ar/login',
      headers: {},
      body: '{"role_id":"r","secret_id":"s"}',
    });
  });

  /** @param {unknown} role_id @param {object} auth of the login before the run */
  function prepare(role_id, auth) {
    const health = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
    const client = {
      ...{ origin: 'http://v', hasToken: true, health: async () => ({ status: 200, json: health }) },
      read: async (/** @type {string} */ path) => ({
        data: path.endsWith('role-id') ? { role_id } : { ttl: 0, expire_time: null },
      }),
      write: async () => ({ data: { secret_id: 's' }, auth }),
    };
    const events = { keepAlive() {}, beforeAgain() {}, warn() {}, notice() {}, onEnd() {} };
    const context = { plan: planOf(login), client, token: 't', signal: new AbortController().signal };
    return login.prepare(/** @type {any} */ ({ ...context, ...events }));
  }

  test('a Vault that gives shorter tokens than --token-ttl (5 min) is refused before the run', async () => {
    await prepare('r', { entity_id: '', lease_duration: 300 });
    await assert.rejects(prepare('r', { entity_id: '', lease_duration: 120 }), {
      message: 'Vault limits these tokens to 2 min, less than --token-ttl.',
      remedy: 'Use --token-ttl 120s.',
    });
  });

  test('logins send no long strings, and nothing but strings', async () => {
    for (const [role_id, sent] of [
      ['an ID', 'an ID'],
      [{}, ''],
      [['a'], ''],
      ['x'.repeat(1_000_000), ''],
    ]) {
      const { credentials } = await prepare(role_id, { entity_id: {} });
      assert.deepEqual(credentials, { role_id: sent, secret_id: 's' });
    }
  });

  test('responses', () => {
    const fixture = { ...CALL, tokens: createSerialMemory(10) };
    const classify = login.createClassifier(planOf(login, { tokenTtl: '1m' }), fixture);
    /** @type {Row[]} */
    const rows = [
      row('a login', {}, 'logged_in'),
      row('the same token again, from a cache', { accessor: 'b' }, 'token_repeated'),
      row('another token', { client_token: 'hvs.y' }, 'logged_in'),
      ['no auth', 200, { data: {} }, 'no_token'],
      row('an empty token', { client_token: '' }, 'no_token'),
      row('a token that is a number', { client_token: 5 }, 'no_token'),
      row('no accessor', { accessor: '' }, 'no_accessor'),
      row('more policies', { policies: ['default', 'root'] }, 'wrong_token'),
      row('other policies', { policies: ['root'] }, 'wrong_token'),
      row('no policies', { policies: undefined }, 'wrong_token'),
      row('another type', { token_type: 'batch' }, 'wrong_token'),
      row('a longer lease', { lease_duration: 61 }, 'wrong_lifetime'),
      row('a shorter lease', { lease_duration: 59 }, 'wrong_lifetime'),
      row('no lease', { lease_duration: undefined }, 'wrong_lifetime'),
      ...REFUSALS,
    ];
    assertAllSeen(
      login,
      rows.map((one) => assertRow(classify, one, { good: ['logged_in'] })),
    );
  });

  test('a batch token has no accessor', () => {
    const fixture = { ...CALL, tokens: createSerialMemory(10) };
    const classify = login.createClassifier(planOf(login, { tokenTtl: '1m', tokenType: 'batch' }), fixture);
    const good = { good: ['logged_in'] };
    assertRow(classify, row('a batch token', { token_type: 'batch', accessor: '' }, 'logged_in'), good);
    assertRow(classify, row('a service token', {}, 'wrong_token'), good);
  });
});

test('token-lookup: the token that was sent, with its policies', () => {
  assert.deepEqual(lookup.createRequester(planOf(lookup), CALL)(0), {
    method: 'GET',
    path: '/base/v1/auth/token/lookup-self',
    headers: CALL.headers,
    body: null,
  });
  const classify = lookup.createClassifier(planOf(lookup), CALL);
  /** @type {Row[]} */
  const rows = [
    ['it', 200, { data: { id: 'a-token', policies: ['root'] } }, 'looked_up'],
    ['another', 200, { data: { id: 'b-token', policies: ['root'] } }, 'wrong_token'],
    ['without policies', 200, { data: { id: 'a-token' } }, 'wrong_token'],
    ['nothing', 200, { data: null }, 'wrong_token'],
    ...REFUSALS,
  ];
  assertAllSeen(
    lookup,
    rows.map((one) => assertRow(classify, one, { good: ['looked_up'] })),
  );
});

test('health: by status and by body', () => {
  /** @type {(...cells: Row) => Row} */
  const row = (...cells) => cells;
  const active = { initialized: true, sealed: false, version: '1.21.1' };
  const other = { ...active, sealed: true };
  const standby = { ...active, standby: true };
  /** @type {Row[]} */
  const rows = [
    ['active', 200, active, 'active'],
    ['200, but sealed', 200, other, 'status_mismatch'],
    ['200, but something else', 200, {}, 'status_mismatch'],
    ['200, but a standby', 200, standby, 'status_mismatch'],
    ...['true', 1, null, [], {}].flatMap((value) =>
      ['standby', 'performance_standby'].map((key) =>
        row(`200, but ${key} is ${value}`, 200, { ...active, [key]: value }, 'status_mismatch'),
      ),
    ),
    ['200, but a performance standby', 200, { ...active, performance_standby: true }, 'status_mismatch'],
    ['200, but a secondary', 200, { ...active, replication_dr_mode: 'secondary' }, 'status_mismatch'],
    ['200, but no text', 200, { ...active, replication_dr_mode: ['secondary'] }, 'status_mismatch'],
    ['a primary', 200, { ...active, standby: false, replication_dr_mode: 'primary' }, 'active'],
    ['standby', 429, standby, 'standby'],
    ['disaster recovery', 472, { ...active, replication_dr_mode: 'secondary' }, 'standby'],
    ['performance standby', 473, { ...active, performance_standby: true }, 'standby'],
    ['not initialised', 501, { initialized: false }, 'uninitialised'],
    ['sealed', 503, { sealed: true }, 'sealed'],
    ...REFUSALS.filter(([, status]) => ![429, 473, 503].includes(status)),
  ];
  const classify = health.createClassifier(planOf(health), CALL);
  const seen = rows.map((one) => assertRow(classify, one, { good: ['active'] }));
  const lenient = health.createClassifier(planOf(health, { standbyOk: true }), CALL);
  /** @type {Row[]} */
  const notStandby = [
    ['a rate limit', 429, '<html>', 'not_json'],
    ['429, but active', 429, active, 'status_mismatch'],
    ['473, but sealed', 473, { ...standby, sealed: true }, 'status_mismatch'],
    ['472 and errors', 472, { errors: ['x'] }, 'error_body'],
  ];
  const accepted = rows.map(([what, status, body, outcome]) =>
    row(what, status, body, outcome === 'standby' ? 'standby_accepted' : outcome),
  );
  for (const one of [...accepted, ...notStandby])
    seen.push(assertRow(lenient, one, { good: ['active', 'standby_accepted'] }));
  assertAllSeen(health, seen);
});

describe('http', () => {
  const fixture = { ...CALL, file: null };
  const requestOf = (/** @type {Record<string, unknown>} */ given, more = {}) =>
    http.createRequester(planOf(http, given), { ...fixture, ...more })(7);

  test('responses', () => {
    const classify = http.createClassifier(planOf(http, { status: '200,410', contains: 'denied' }), CALL);
    /** @type {Row[]} */
    const rows = [
      ['status and text', 410, { errors: ['permission denied'] }, 'expected'],
      ['the other status', 200, 'denied', 'expected'],
      ['another status', 204, 'denied', 'unexpected_status'],
      ['another text', 410, 'no', 'unexpected_body'],
      ...REFUSALS.filter(([, status]) => status !== 200),
    ];
    assertAllSeen(
      http,
      rows.map((one) => assertRow(classify, one, { good: ['expected'] })),
    );
  });

  test('a response without its body is judged by its status where that is enough', () => {
    /** @type {[string, Record<string, unknown>, number, string | undefined][]} sentence, options, status, outcome, where it tells */
    const rows = [
      ['a 200 fails if a refusal is expected', { status: '403' }, 200, 'unexpected_status'],
      ['the expected refusal passes', { status: '403' }, 403, 'expected'],
      ['a 200 without an expected text needs no body', {}, 200, 'expected'],
      ['a 200 with an expected text needs its body', { contains: 'x' }, 200, undefined],
      [
        'an expected refusal with an expected text needs its body',
        { status: '403', contains: 'x' },
        403,
        undefined,
      ],
      ['another status fails regardless of the body', { contains: 'x' }, 204, 'unexpected_status'],
    ];
    for (const [sentence, given, status, outcome] of rows) {
      const { byStatus } = http.createClassifier(planOf(http, given), fixture);
      assert.equal(byStatus?.(status)?.outcome, outcome, sentence);
    }
  });

  test('requests: placeholders, headers, tokens', () => {
    const plain = requestOf({});
    assert.deepEqual(plain, {
      method: 'GET',
      path: '/base/v1/sys/health',
      headers: CALL.headers,
      body: null,
    });
    const asked = requestOf({
      method: 'PATCH',
      path: '/v1/a/{n}?x={random}',
      body: '{"n":{n}}',
      header: ['X-A:  b '],
    });
    assert.match(asked.path, /^\/base\/v1\/a\/7\?x=[0-9a-f]{12}$/);
    assert.deepEqual([asked.method, asked.body, asked.headers['x-a']], ['PATCH', '{"n":7}', 'b']);
    const bad = requestOf({ token: 'bad' });
    assert.match(bad.headers['x-vault-token'], /^hvs\./);
    assert.notEqual(bad.headers['x-vault-token'], CALL.headers['x-vault-token']);
    const bytes = Uint8Array.of(0, 255);
    assert.equal(requestOf({ method: 'POST', bodyFile: 'x' }, { file: bytes }).body, bytes);
  });

  test('an existing body file is read before the run, a missing one is rejected', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'vpl-http-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'body'), 'x');
    /** @type {any} */
    const context = {
      token: null,
      warn: () => {},
      client: {
        origin: CALL.origin,
        health: async () => ({
          status: 200,
          json: { initialized: true, sealed: false, version: '1.21.1', enterprise: false },
        }),
      },
    };
    const prepare = (/** @type {string} */ bodyFile) =>
      http.prepare({ ...context, plan: planOf(http, { method: 'POST', token: 'none', bodyFile }) });
    assert.deepEqual((await prepare(join(folder, 'body'))).file, new Uint8Array([120]));
    await assert.rejects(prepare(join(folder, 'none')), /--body-file .*none was not found/);
    await assert.rejects(prepare('/dev/zero'), /--body-file \/dev\/zero is a device/);
  });

  /** @type {[Record<string, unknown>, RegExp][]} */
  const REFUSED = [
    [{ method: 'POST', body: 'x', bodyFile: 'y' }, /--body and --body-file are both given/],
    [{ body: 'x' }, /A GET request has no body/],
    [{ method: 'LIST', bodyFile: 'x' }, /A LIST request has no body/],
    [{ status: '100' }, /--status is "100"/],
    [{ status: '200,abc' }, /--status is "abc"/],
    [{ status: '' }, /--status/],
    [{ header: ['nothing'] }, /--header is "nothing", which is not NAME: VALUE/],
    [{ header: ['X-A: 1', 'x-a: 2'] }, /--header x-a is given twice/],
    [{ header: ['Host: x'] }, /--header sets host, which the connection sets/],
    [{ header: ['X-Vault-Token: s'] }, /visible to others/],
    [{ header: ['Authorization: Bearer s'] }, /visible to others/],
    [{ header: ['a: b\r\nc: d'] }, /control character/],
    [{ header: ['a: ü'] }, /not NAME: VALUE in printable ASCII/],
    [{ path: 'v1/sys' }, /--path is "v1\/sys", which is not a path/],
    [{ path: '/v1/a b' }, /not a path/],
    [{ path: '/v1/a#b' }, /not a path/],
    [{ method: 'HEAD' }, /--method/],
  ];
  for (const [given, message] of REFUSED) {
    test(`rejected: ${JSON.stringify(given)}`, () => assertUsage(() => planOf(http, given), message));
  }
});

test("with --standby-ok, a standby's product is unknown", async () => {
  const json = { initialized: true, sealed: false, standby: true, version: '2.6.2' };
  const client = { origin: 'http://192.0.2.1:8200', health: async () => ({ status: 429, json }) };
  const prepare = (/** @type {Record<string, unknown>} */ given) =>
    health.prepare(/** @type {any} */ ({ client, plan: planOf(health, given), warn() {} }));
  assert.deepEqual((await prepare({ standbyOk: true })).target, { product: null, version: null });
  await assert.rejects(prepare({}), { code: 'vault_standby' });
});
