/** Refusals as Vault 1.21.1 answered them (November 2026, `vault server -dev`, default role settings), word for word. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { ask } from './support.js';

const LOCAL = { common_name: 'localhost', ttl: '1h' };
const EC = 'pki_int/issue/example-dot-com-ec';
const CN_REQUIRED =
  'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false';
const UNSUPPORTED_PATH = '1 error occurred:\n\t* unsupported path\n\n';
const UNSUPPORTED_OPERATION = '1 error occurred:\n\t* unsupported operation\n\n';

/** Token (null: none), method, path, body, status, errors. */
const ERRORS = /** @type {[string | null, string, string, object | undefined, number, string[]][]} */ ([
  [null, 'GET', 'auth/token/lookup-self', undefined, 403, ['permission denied']],
  [null, 'POST', EC, LOCAL, 403, ['permission denied']],
  [null, 'GET', 'nope/issue/x', undefined, 403, ['permission denied']],
  [null, 'GET', 'pki_int/nope', undefined, 403, ['permission denied']],
  [null, 'LIST', 'pki_int/certs', undefined, 403, ['permission denied']],
  ['wrong', 'POST', EC, LOCAL, 403, ['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n']],
  ['', 'POST', 'auth/token/renew-self', undefined, 400, ['lease is not renewable']],
  ['', 'POST', 'sys/capabilities-self', {}, 400, ['paths must be supplied']],
  ['', 'POST', 'sys/health', undefined, 405, []],
  ['', 'GET', 'sys/nope', undefined, 404, [UNSUPPORTED_PATH]],
  ['', 'GET', 'pki_int/nope', undefined, 404, [UNSUPPORTED_PATH]],
  ['', 'POST', 'pki_int/issue', {}, 404, [UNSUPPORTED_PATH]],
  ['', 'POST', 'pki_int/issue/', {}, 400, ["cannot write to a path ending in '/'"]],
  ['', 'GET', 'nope/x', undefined, 404, ['no handler for route "nope/x". route entry not found.']],
  ['', 'GET', EC, undefined, 405, [UNSUPPORTED_OPERATION]],
  ['', 'DELETE', 'pki_int/ca', undefined, 405, ['unsupported operation']],
  ['', 'GET', 'pki_int/ocsp', undefined, 405, ['unsupported operation']],
  ['', 'GET', 'pki_int/roles/nope', undefined, 404, []],
  ['', 'GET', 'pki_int/cert/00:11', undefined, 404, []],
  ['', 'GET', 'pki_int/cert/zz', undefined, 404, ['unsupported path']],
  ['', 'POST', 'pki_int/issue/nope', LOCAL, 400, ['unknown role: nope']],
  ['', 'POST', 'pki_int/issue/__proto__', LOCAL, 400, ['unknown role: __proto__']],
  ['', 'POST', EC, {}, 400, [CN_REQUIRED]],
  ['', 'POST', EC, { common_name: 'evil.com' }, 400, ['common name evil.com not allowed by this role']],
  [
    '',
    'POST',
    EC,
    { ...LOCAL, alt_names: 'evil.com' },
    400,
    ['subject alternate name evil.com not allowed by this role'],
  ],
  [
    '',
    'POST',
    EC,
    { ...LOCAL, ip_sans: '300.1.1.1' },
    400,
    ['the value "300.1.1.1" is not a valid IP address'],
  ],
  [
    '',
    'POST',
    EC,
    { ...LOCAL, uri_sans: 'spiffe://x/y' },
    400,
    ['URI Subject Alternative Names are not allowed in this role, but were provided via the API'],
  ],
  [
    '',
    'POST',
    EC,
    { ...LOCAL, ttl: 'xyz' },
    400,
    ['Field validation failed: error converting input for field "ttl": time: invalid duration "xyz"'],
  ],
  [
    '',
    'POST',
    EC,
    { ...LOCAL, ttl: '-5' },
    400,
    [`Field validation failed: error converting input for field "ttl": cannot provide negative value '-5'`],
  ],
  [
    '',
    'POST',
    EC,
    { ...LOCAL, format: 'zzz' },
    400,
    ['the "format" path parameter must be "pem", "der", or "pem_bundle"'],
  ],
  ['', 'POST', 'pki_int/revoke', {}, 400, ['The serial number or certificate to revoke must be provided.']],
  ['', 'POST', 'pki_int/revoke', { serial_number: 'zz' }, 400, ['certificate with serial zz not found.']],
  [
    '',
    'POST',
    'pki_int/config/urls',
    { ocsp_servers: 'not a url' },
    400,
    ['invalid URL found in Authority Information Access (AIA) parameter ocsp_servers: not a url'],
  ],
  [
    '',
    'GET',
    'sys/internal/ui/mounts/nope',
    undefined,
    403,
    [`preflight capability check returned 403, please ensure client's policies grant access to path "nope/"`],
  ],
]);

describe('refusals are those of Vault 1.21.1', () => {
  /** @type {import('../../src/dev/server.js').DevServer} */
  let server;
  before(async () => {
    server = await createDevServer({ caKeyType: 'ec' });
  });
  after(() => server.close());

  for (const [token, method, path, body, status, errors] of ERRORS) {
    it(`${status} for ${method} ${path} ${JSON.stringify(body ?? '')}${token === null ? ' without a token' : ''}`, async () => {
      const who = { url: server.url, token: token === null ? undefined : token || server.token };
      const answer = await ask(who, method, path, body);
      assert.equal(answer.status, status);
      assert.deepEqual(answer.json, { errors });
    });
  }
});
