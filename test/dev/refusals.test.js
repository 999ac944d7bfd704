/** Refusals as Vault 1.21.1 answered them (November 2026, `vault server -dev`, default role settings), word for word. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { ask } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

const LOCAL = { common_name: 'localhost', ttl: '1h' };
const EC = 'pki_int/issue/example-dot-com-ec';
const CN_REQUIRED =
  'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false';
const FIELD = 'Field validation failed: error converting input for field';
const UNSUPPORTED_PATH = '1 error occurred:\n\t* unsupported path\n\n';
const UNSUPPORTED_OPERATION = '1 error occurred:\n\t* unsupported operation\n\n';

/** Method, path, body, status, errors: with the root token. */
const ERRORS = /** @type {[string, string, object | undefined, number, string[]][]} */ ([
  ['POST', 'sys/capabilities-self', {}, 400, ['paths must be supplied']],
  ['POST', 'sys/health', undefined, 405, []],
  ['GET', 'sys/nope', undefined, 404, [UNSUPPORTED_PATH]],
  ['GET', 'pki_int/nope', undefined, 404, [UNSUPPORTED_PATH]],
  ['POST', 'pki_int/issue', {}, 404, [UNSUPPORTED_PATH]],
  ['POST', 'pki_int/issue/', {}, 400, ["cannot write to a path ending in '/'"]],
  ['GET', 'nope/x', undefined, 404, ['no handler for route "nope/x". route entry not found.']],
  ['GET', EC, undefined, 405, [UNSUPPORTED_OPERATION]],
  ['DELETE', 'pki_int/ca', undefined, 405, ['unsupported operation']],
  ['GET', 'pki_int/ocsp', undefined, 405, ['unsupported operation']],
  ['GET', 'pki_int/roles/nope', undefined, 404, []],
  ['GET', 'pki_int/cert/00:11', undefined, 404, []],
  ['GET', 'pki_int/cert/zz', undefined, 404, ['unsupported path']],
  ['POST', 'pki_int/issue/nope', LOCAL, 400, ['unknown role: nope']],
  ['POST', 'pki_int/issue/__proto__', LOCAL, 400, ['unknown role: __proto__']],
  ['POST', 'pki_int/revoke', {}, 400, ['The serial number or certificate to revoke must be provided.']],
  ['POST', 'pki_int/revoke', { serial_number: 'zz' }, 400, ['certificate with serial zz not found.']],
]);

/** What is asked of `issue`, and the error. @type {[object, string][]} */
const ISSUE_ERRORS = [
  [{ common_name: undefined }, CN_REQUIRED],
  [{ common_name: 'evil.com' }, 'common name evil.com not allowed by this role'],
  [{ alt_names: 'evil.com' }, 'subject alternate name evil.com not allowed by this role'],
  [{ ip_sans: '300.1.1.1' }, 'the value "300.1.1.1" is not a valid IP address'],
  [{ ttl: 'xyz' }, `${FIELD} "ttl": time: invalid duration "xyz"`],
  [{ ttl: '-5' }, `${FIELD} "ttl": cannot provide negative value '-5'`],
  [{ format: 'der' }, 'the embedded server supports only the "format" "pem"'],
];
for (const [asked, error] of ISSUE_ERRORS) ERRORS.push(['POST', EC, { ...LOCAL, ...asked }, 400, [error]]);

describe('errors equal those of Vault 1.21.1', () => {
  /** @type {DevServer} */
  let server;
  before(async () => {
    server = await createDevServer({ caKeyType: 'ec' });
  });
  after(() => server.close());

  for (const [method, path, body, status, errors] of ERRORS) {
    it(`${status} for ${method} ${path} ${JSON.stringify(body ?? '')}`, async () => {
      const answer = await ask(server, method, path, body);
      assert.deepEqual([answer.status, answer.json], [status, { errors }]);
    });
  }

  it('every path returns the same error without a token or with a wrong one', async () => {
    for (const [method, path] of [
      ['GET', 'auth/token/lookup-self'],
      ['POST', EC],
      ['GET', 'nope/issue/x'],
      ['GET', 'pki_int/nope'],
      ['LIST', 'pki_int/certs'],
    ]) {
      const { status, json } = await ask({ url: server.url }, method, path);
      assert.deepEqual([status, json], [403, { errors: ['permission denied'] }], path);
    }
    const { json } = await ask({ url: server.url, token: 'wrong' }, 'POST', EC, LOCAL);
    assert.deepEqual(json.errors, ['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n']);
  });
});
