import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { redactToken } from '../../src/common/sanitize.js';
import { aheadOf, createVaultClient } from '../../src/vault/client.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

const TOKEN = 'hvs.CAESIPlantedTokenThatMustNeverShow';

describe('createVaultClient', () => {
  /** @type {(req: IncomingMessage, res: ServerResponse) => void} */
  let handle = () => {};
  /** @type {{method?: string, url?: string, headers: IncomingHttpHeaders, body: string}[]} */
  let seen = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    seen.push({ method: req.method, url: req.url, headers: req.headers, body });
    handle(req, res);
  });
  let url = '';
  /** @type {VaultClient} */
  let client;
  before(async () => {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
    url = `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`;
    client = createVaultClient({ url, token: TOKEN, namespace: 'team/a', timeoutMs: 5000 });
  });
  after(async () => {
    await client.close();
    server.close();
  });

  /** @param {number} status @param {unknown} body @param {Record<string, string>} [headers] */
  const answer = (status, body, headers = {}) => {
    seen = [];
    handle = (_req, res) =>
      void res.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };

  test('reads with token, namespace and the X-Vault-Request header', async () => {
    answer(200, { data: { a: 1 }, warnings: ['w'], auth: null });
    const read = { data: { a: 1 }, warnings: ['w'], auth: null, leaseMs: null };
    assert.deepEqual(await client.read('pki/roles/a b'), read);
    assert.equal(seen[0].url, '/v1/pki/roles/a%20b');
    assert.equal(seen[0].headers['x-vault-token'], TOKEN);
    assert.equal(seen[0].headers['x-vault-namespace'], 'team/a');
    assert.equal(seen[0].headers['x-vault-request'], 'true');
  });

  const large = (/** @type {number} */ count) => JSON.stringify({ data: { keys: Array(count).fill('a') } });
  const long = JSON.stringify({ data: { keys: ['a'.repeat(2 ** 20)] } });
  for (const [what, body] of [
    ['more than 1 MiB', long],
    ['more than 10,000 values', large(10_000)],
  ]) {
    test(`only a list may have ${what}`, async () => {
      answer(200, body);
      assert.ok((await client.list('pki/roles')).length > 0);
      assert.ok((await client.read('sys/mounts')).data !== null);
      await assert.rejects(client.read('pki/roles/web'), { code: /^(response_too_large|not_vault)$/ });
      const refused = what === 'more than 1 MiB' ? client.health() : client.write('pki/issue/web');
      await assert.rejects(refused, { code: /^(response_too_large|not_vault)$/ });
    });
  }

  test('a list of more than 400,000 values, or 8 MiB, is rejected', async () => {
    answer(200, large(400_001));
    await assert.rejects(client.list('pki/roles'), { code: 'not_vault' });
    answer(200, JSON.stringify({ data: { keys: ['a'.repeat(2 ** 23)] } }));
    await assert.rejects(client.list('pki/roles'), { code: 'response_too_large' });
  });

  test('writes JSON; 204 is an empty response', async () => {
    answer(204, '');
    assert.deepEqual(await client.write('sys/mounts/pki', { type: 'pki' }), {
      data: null,
      auth: null,
      leaseMs: null,
      warnings: [],
    });
    assert.deepEqual([seen[0].method, seen[0].body], ['POST', '{"type":"pki"}']);
  });

  test('shows no part of a token that a redirect repeats', async () => {
    redactToken('s.ABCDEFGH?IJKLMNOPQR');
    for (const [location, shown] of [
      ['http://x/s.ABCDEFGH?IJKLMNOPQR', 'http://x/<redacted>'],
      ['http://x/y?z=1', 'http://x/y'],
      ['', 'nowhere'],
    ]) {
      answer(307, '', { location });
      await assert.rejects(client.read('sys/x'), {
        code: 'redirected',
        message: `${url} redirects to ${shown}.`,
      });
    }
  });

  for (const [path, url] of [
    ['sys/mounts/vault-pki-load-prod?x', '/v1/sys/mounts/vault-pki-load-prod%3Fx'],
    ['sys/mounts/a?list=true', '/v1/sys/mounts/a%3Flist=true'],
    ['sys/mounts/a#b%2f;c', '/v1/sys/mounts/a%23b%252f%3Bc'],
  ]) {
    test(`a change to ${path} sends the whole path, percent-encoded`, async () => {
      answer(204, '');
      await client.remove(path);
      await client.write(path);
      assert.deepEqual(
        seen.slice(-2).map((one) => [one.method, one.url?.replaceAll('%3D', '=')]),
        [
          ['DELETE', url],
          ['POST', url],
        ],
      );
    });
  }

  for (const path of ['sys/mounts/a/../b', 'sys/mounts//a', 'sys/mounts/a\ud800']) {
    test(`the path ${JSON.stringify(path)} is rejected`, async () => {
      await assert.rejects(client.remove(path), { code: 'bad_vault_path' });
    });
  }

  test('calls onHead when it has read the head of the response, before the body', async () => {
    /** @type {ServerResponse[]} */
    const held = [];
    handle = (_req, res) => {
      res.writeHead(200).write('{"data":');
      held.push(res);
    };
    const { data } = await client.write('pki/revoke', {}, () => void held[0].end('{"a":1}}'));
    assert.deepEqual(data, { a: 1 });
  });

  test('respects the timeout of a single read', { timeout: 30_000 }, async () => {
    const patient = createVaultClient({ url, timeoutMs: 600_000 });
    // A busy machine may need longer to connect.
    answer(200, { data: {} });
    await patient.read('sys/mounts');
    handle = () => {};
    await assert.rejects(patient.read('sys/mounts', 20), { code: 'no_response' });
    await patient.close();
  });

  test("lists; Vault's 404 is an empty list", async () => {
    answer(200, { data: { keys: ['x'] } });
    assert.deepEqual(await client.list('pki/roles'), ['x']);
    assert.equal(seen[0].url, '/v1/pki/roles?list=true');
    answer(404, { errors: [] });
    assert.deepEqual(await client.list('pki/roles'), []);
  });

  test('requests health without token and namespace, and returns any status', async () => {
    answer(503, { sealed: true });
    assert.deepEqual(await client.health(), { status: 503, json: { sealed: true }, aheadMs: 0 });
    assert.equal(seen[0].headers['x-vault-token'], undefined);
    assert.equal(seen[0].headers['x-vault-namespace'], undefined);
    assert.equal(seen[0].headers['x-vault-request'], 'true', 'Vault Agent may require it');
  });

  test('health tells how far the clock of the server is ahead, the same each time', async () => {
    const hour = 3_600_000;
    const own = createVaultClient({ url });
    const startMs = Date.now();
    answer(200, {}, { date: new Date(startMs + hour).toUTCString() });
    const { aheadMs } = await own.health();
    const tookMs = Date.now() - startMs;
    assert.ok(aheadMs !== null && aheadMs <= hour && aheadMs >= hour - 1000 - tookMs, `${aheadMs}`);
    answer(200, {}, { date: new Date(startMs + 2 * hour).toUTCString() });
    assert.equal((await own.health()).aheadMs, aheadMs);
    await own.close();
  });

  test('keeps the path of the URL as a prefix', async () => {
    const prefixed = createVaultClient({ url: `${url}/proxy/` });
    answer(200, { data: {} });
    await prefixed.read('sys/x');
    await prefixed.close();
    assert.equal(seen[0].url, '/proxy/v1/sys/x');
  });

  /** @type {[number, unknown, string][]} */
  const refusals = [
    [400, { errors: ['common name x not allowed by this role'] }, 'vault_bad_request'],
    [403, { errors: ['1 error occurred:\n\t* permission denied\n\n'] }, 'vault_permission_denied'],
    [403, { errors: ['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n'] }, 'token_invalid'],
    [404, { errors: [] }, 'vault_not_found'],
    [404, { errors: ['no handler for route "x/y". route entry not found.'] }, 'vault_no_route'],
    [405, { errors: ['unsupported operation'] }, 'vault_unsupported'],
    [412, { errors: [] }, 'vault_not_replicated'],
    [429, { errors: ['rate limit quota exceeded'] }, 'vault_rate_limited'],
    [472, '', 'vault_dr_secondary'],
    [473, '', 'vault_standby'],
    [500, { errors: ['internal error'] }, 'vault_internal_error'],
    [501, '', 'vault_uninitialised'],
    [502, '<html>', 'vault_internal_error'],
    [503, { errors: ['Vault is sealed'] }, 'vault_sealed'],
    [503, { errors: ['overloaded'] }, 'vault_unavailable'],
    [500, { errors: ['local node not active but active cluster node not found'] }, 'vault_unavailable'],
    [418, '', 'vault_internal_error'],
    [200, 'not json', 'not_vault'],
    [200, '[1]', 'not_vault'],
  ];
  for (const [status, body, code] of refusals) {
    test(`HTTP ${status} ${JSON.stringify(body)} is ${code}`, async () => {
      answer(status, body);
      await assert.rejects(client.read('pki/x'), (/** @type {any} */ error) => {
        assert.equal(error.code, code);
        assert.equal(error.exitCode, 2);
        assert.match(error.message, /^http:\/\/127[^\n]*\.$/);
        assert.ok(error.remedy.endsWith('.') || error.remedy.endsWith('?'));
        return true;
      });
    });
  }

  test("shows Vault's error without tokens, keys and line breaks", async () => {
    const planted = `asked with ${TOKEN}\n-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\nfoo`;
    answer(400, { errors: [planted] });
    await assert.rejects(client.read('pki/x'), (/** @type {any} */ error) => {
      assert.match(error.message, /asked with <redacted> <redacted> foo/);
      assert.doesNotMatch(`${error.full}${error.stack}${JSON.stringify(error)}`, /PlantedToken|MHcC/);
      return true;
    });
  });

  /** @type {[string, unknown][]} each was slow, or an internal error */
  const hostile = [
    ['a million digits', { errors: ['1'.repeat(1_000_000)] }],
    ['many error lists', { errors: ['1 error occurred: '.repeat(50_000)] }],
    ['many truncated keys', { errors: ['-----BEGIN PRIVATE KEY-----END '.repeat(30_000)] }],
    ['many truncated tokens', { errors: ['hvs.s.b.'.repeat(120_000)] }],
    ['errors that are not strings', { errors: [1, null, {}, ['x']] }],
    ['errors that are not a list', { errors: { length: 5 } }],
    ['deep lists', `{"errors":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ];
  for (const [what, body] of hostile) {
    test(`an error with ${what} becomes a one-line refusal`, async () => {
      answer(400, body);
      await assert.rejects(client.read('pki/x'), (/** @type {any} */ error) => {
        assert.equal(error.code, 'vault_bad_request');
        assert.ok(error.message.length < 500 && !error.message.includes('\n'));
        return true;
      });
    });
  }

  test('escapes terminal sequences in an error', async () => {
    answer(403, { errors: ['\u001b]0;X\u0007permission denied\u009b31m'] });
    await assert.rejects(client.read('pki/x'), {
      message: /: \\u\{1b\}\]0;X\\u\{7\}permission denied\\u\{9b\}31m\.$/,
    });
  });

  for (const envelope of [{ data: 'x' }, { data: [1] }, { data: 5 }, { auth: true }, { auth: [] }]) {
    test(`a response ${JSON.stringify(envelope)} is not from Vault`, async () => {
      answer(200, envelope);
      await assert.rejects(client.read('pki/x'), { code: 'not_vault' });
    });
  }

  test('rejects a response of more than 8 MiB', async () => {
    answer(200, { data: { text: 'x'.repeat(9_000_000) } });
    await assert.rejects(client.read('pki/x'), { code: 'response_too_large' });
  });

  test('ignores warnings and keys that are not lists of strings', async () => {
    answer(200, { data: { keys: { a: 1 } }, warnings: { a: 1 } });
    assert.deepEqual((await client.read('pki/x')).warnings, []);
    assert.deepEqual(await client.list('pki/x'), []);
  });

  /** @type {[string, (elsewhere: string) => string | undefined][]} */
  const redirects = [
    ['to the same path of another server', (elsewhere) => `${elsewhere}/v1/pki/x`],
    ['to another path of the same server', (elsewhere) => `${elsewhere}/login`],
    ['to itself', () => '/v1/pki/x'],
    ['to another scheme', () => 'ftp://127.0.0.1/v1/pki/x'],
    ['to an invalid URL', () => 'http://['],
    ['without a location', () => undefined],
  ];
  for (const [what, locate] of redirects) {
    test(`a redirect ${what} is not followed: no other server gets the token`, async () => {
      let asked = 0;
      const other = createServer((_req, res) => void res.end(`{"data":{"asked":${++asked}}}`));
      await new Promise((resolve) => other.listen(0, '127.0.0.1', () => resolve(null)));
      const { port } = /** @type {AddressInfo} */ (other.address());
      const location = locate(`http://127.0.0.1:${port}`);
      for (const status of [301, 302, 303, 307, 308]) {
        answer(status, '', location === undefined ? {} : { location });
        await assert.rejects(client.write('pki/x'), {
          code: 'redirected',
          exitCode: 2,
          message: `${url} redirects to ${location ?? 'nowhere'}.`,
        });
        assert.equal(seen.length, 1);
      }
      assert.equal(asked, 0);
      other.close();
      other.closeAllConnections();
    });
  }

  test('a redirect of sys/health is not followed either, and its address is reported', async () => {
    answer(308, '', { location: 'https://vault.example/v1/sys/health?secret=1' });
    const message = `${url} redirects to https://vault.example/v1/sys/health.`;
    await assert.rejects(client.health(), { code: 'redirected', message });
  });

  test('rejects paths that are not below /v1/', async () => {
    for (const path of ['', '/x', 'a//b', '../sys', 'a/./b']) {
      await assert.rejects(client.read(path), { code: 'bad_vault_path' });
    }
  });

  test('rejects a token with a line break before sending', () => {
    assert.throws(() => createVaultClient({ url, token: 'a\nb' }), {
      code: 'bad_token',
      message: /^(?!.*a\nb)/s,
    });
  });
});

/** @type {[what: string, date: unknown, took: [fromMs: number, toMs: number], ahead: number | null][]} times in ms after 10:00:00 */
const CLOCKS = [
  ['the same second', '10:00:00', [0, 0], 0],
  ['a truncated second, at its end', '10:00:00', [999, 999], 0],
  ['the response took as long as the difference', '10:00:08', [0, 8000], 0],
  ['the response took long, and the clock may be behind by as much', '10:00:00', [900, 9000], 0],
  ['ahead', '10:00:08', [0, 0], 8000],
  ['ahead, by less than the time that the response took', '10:00:08', [0, 500], 7500],
  ['behind', '10:00:00', [9000, 9000], -8000],
  ['behind, by when the request was sent', '10:00:00', [9000, 9500], -8000],
  ['no date', undefined, [0, 0], null],
  ['two dates', ['a', 'b'], [0, 0], null],
  ['no day of that month', 'Sun, 99 Nov 2026 10:00:00 GMT', [0, 0], null],
  ['another form', '2026-11-29T10:00:00Z', [0, 0], null],
];
for (const [what, date, [fromMs, toMs], ahead] of CLOCKS)
  test(`the clock of the server, from its date: ${what}`, () => {
    const field = /^[\d:]+$/.test(String(date)) ? `Sun, 29 Nov 2026 ${date} GMT` : date;
    const startMs = Date.UTC(2026, 10, 29, 10);
    assert.equal(aheadOf(field, startMs + fromMs, startMs + toMs), ahead);
  });
