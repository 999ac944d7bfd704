/** Each fault of TLS is refused with its own code and remedy, and no server that is not verified receives the request. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createConnection } from '../../src/http/connection.js';
import { TRANSPORT_CODES, transportFailure } from '../../src/http/failures.js';
import { createRequester } from '../../src/http/request.js';
import { scratch, startBatch } from '../cli/support.js';
import { exchange } from './raw-server.js';
import { authoritiesOf, FAULTS, received, serveGood, startFront, TOKEN } from './tls-faults.js';

/** @import { Handshakes } from '../../src/http/connection.js' */
/** @import { Fault } from './tls-faults.js' */

/** Of a server that stays silent. */
const PATIENCE_MS = 50;
const REQUEST = { path: '/v1/x', headers: { 'X-Vault-Token': TOKEN } };

/** @type {Awaited<ReturnType<typeof startFront>>} */
let front;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

/** @param {Fault} fault */
const tlsOf = (fault) => ({ ca: authoritiesOf(fault), rejectUnauthorized: true });

/** @param {Fault} fault */
function begin({ serve }) {
  received.text = '';
  front.state.serve = serve;
}

/** @param {Fault} fault */
function assertKeptSecret({ isVerified = false }) {
  if (!isVerified) assert.doesNotMatch(received.text, /hvs|HTTP\/1/);
}

describe('a TLS fault before a run', () => {
  const run = startBatch({ after });
  for (const fault of FAULTS) {
    const { name, code, remedy } = fault;
    const isSilent = code === 'tls_handshake_timeout';
    test(`${name}: ${code}`, async () => {
      begin(fault);
      const timeoutMs = isSilent ? PATIENCE_MS : 60_000;
      const requester = createRequester({ origin: front.origin, tls: tlsOf(fault), timeoutMs });
      await assert.rejects(requester.request(REQUEST), { code, exitCode: 2, remedy });
      await requester.close();
      assertKeptSecret(fault);
    });

    // The command line shows only the text and the remedy of the code; a timeout is in the slow test.
    if (isSilent || FAULTS.find((one) => one.code === code) !== fault) continue;
    test(`${name}: on the command line`, async (t) => {
      begin(fault);
      const VAULT_CACERT = scratch(t)('ca.pem', authoritiesOf(fault).join(''));
      const env = { VAULT_ADDR: front.origin, VAULT_TOKEN: TOKEN, VAULT_CACERT };
      const { code: exitCode, stdout, stderr } = await run(['http', '--path', '/v1/x'], { env });
      const { text, remedy: shown } = transportFailure(code);
      const remedied = shown?.replace(/--url(?: \(VAULT_ADDR\))?/, '--url (VAULT_ADDR)');
      assert.equal(stderr, `vault-pki-load: ${front.origin} ${text}. ${remedied}\n`);
      assert.deepEqual([exitCode, stdout], [2, '']);
      assertKeptSecret(fault);
    });
  }
});

describe('a TLS fault that begins during a run', () => {
  for (const resumes of [false, true]) {
    for (const fault of FAULTS) {
      const { name, code } = fault;
      test(`${name}, resumption ${resumes ? 'on' : 'off'}: ${code}`, async (t) => {
        const handshakes = /** @type {Handshakes} */ ({});
        const options = { origin: front.origin, tls: tlsOf(fault), maxRequests: 1, resumes, handshakes };
        const connection = createConnection(options);
        t.after(() => connection.close());
        front.state.serve = serveGood;
        for (let i = 0; i < 2; i++)
          assert.equal((await exchange(connection, REQUEST).ended).answer?.status, 200);
        assert.deepEqual(Object.values(handshakes), [{ count: 2, resumed: resumes ? 1 : 0 }]);

        begin(fault);
        if (code === 'tls_handshake_timeout') {
          const { text } = transportFailure(code);
          await assert.rejects(connection.open(PATIENCE_MS), { message: text });
        } else {
          const { failure, ends } = await exchange(connection, REQUEST).ended;
          assert.deepEqual([failure, ends], [code, 1]);
        }
        assertKeptSecret(fault);
      });
    }
  }
});

test('the faults: at least 20, and every code of TLS but the catch-all and http://', () => {
  assert.ok(new Set(FAULTS.map(({ name }) => name)).size >= 20);
  const codes = new Set(FAULTS.map(({ code }) => code));
  const ofTls = TRANSPORT_CODES.filter((code) => /^(client_)?certificate_|^tls_|^wrong_/.test(code));
  assert.deepEqual(
    ofTls.filter((code) => !codes.has(code)),
    ['certificate_invalid', 'wrong_scheme_http_to_https_port'],
  );
});

test('docs/connections.md lists every code of a failed request', () => {
  const page = readFileSync(new URL('../../docs/connections.md', import.meta.url), 'utf8');
  assert.deepEqual(
    TRANSPORT_CODES.filter((code) => !page.includes(`\`${code}\``)),
    [],
  );
});
