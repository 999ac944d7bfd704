/** Faults of TLS that begin after the checks of a run, through the command line; and client certificates that OpenSSL's server rejects. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { measure, runCli, scratch } from '../cli/support.js';
import { TestCa } from '../pki/test-ca.js';
import { authoritiesOf, ca, FAULTS, good, received, serveGood, startFront, TOKEN } from './tls-faults.js';

/** @import { Issued } from '../pki/test-ca.js' */
/** @import { TestContext } from 'node:test' */

const REQUESTS = 4;

describe('the server becomes another one after the checks: every request has the outcome, none is sent', () => {
  /** @type {Awaited<ReturnType<typeof startFront>>} */
  let front;
  before(async () => {
    front = await startFront();
  });
  after(() => front.stop());

  // The fast test has all of them, with and without resumption.
  const firsts = FAULTS.filter((fault, i) => FAULTS.findIndex(({ code }) => code === fault.code) === i);
  for (const [i, fault] of firsts.entries()) {
    test(fault.name, async (t) => {
      front.state.connections = 0;
      received.text = '';
      let atChecks = '';
      front.state.serve = (socket) => {
        if (front.state.connections === 1) return serveGood(socket);
        atChecks ||= received.text;
        fault.serve(socket);
      };
      const VAULT_CACERT = scratch(t)('ca.pem', authoritiesOf(fault).join(''));
      const load = ['--requests', `${REQUESTS}`, '--concurrency', '2', '--timeout', '1s'];
      const connections = ['--connections', 'new', '--tls-resumption', i % 2 === 0 ? 'on' : 'off'];
      const { outcomes } = await measure(['http', '--path', '/v1/x', ...load, ...connections], {
        env: { VAULT_ADDR: front.origin, VAULT_TOKEN: TOKEN, VAULT_CACERT },
      });
      assert.deepEqual(outcomes, { [fault.outcome ?? fault.code]: REQUESTS });
      assert.match(atChecks, /GET \/v1\/sys\/health/);
      const later = received.text.slice(atChecks.length);
      if (!fault.isVerified) assert.doesNotMatch(later, /hvs|HTTP\/1/);
    });
  }

  test('silence before the run', async (t) => {
    const [silent] = FAULTS.filter((fault) => fault.code === 'tls_handshake_timeout');
    front.state.serve = silent.serve;
    const VAULT_CACERT = scratch(t)('ca.pem', ca.ca.pem);
    const { code, stderr } = await runCli(['http', '--timeout', '1s'], {
      env: { VAULT_ADDR: front.origin, VAULT_CACERT },
    });
    assert.equal(code, 2);
    assert.match(stderr, /did not complete the TLS handshake in time\. .*--timeout/);
  });
});

describe('client certificates that openssl s_server rejects', () => {
  const stranger = new TestCa({ name: 'Stranger' });
  /** @type {[string, 'tls1_2' | 'tls1_3', Issued | null, RegExp][]} */
  const table = [
    ['none', 'tls1_2', null, /shares no cipher suite .*, or requires a client certificate\. .*--client-cert/],
    ['none', 'tls1_3', null, /requires a client certificate, .*--client-cert/],
    [
      'of an unknown CA',
      'tls1_2',
      stranger.issue('strange'),
      /rejected the client certificate\. .*--client-cert/,
    ],
    [
      'of an unknown CA',
      'tls1_3',
      stranger.issue('strange'),
      /rejected the client certificate\. .*--client-cert/,
    ],
    ['expired', 'tls1_2', ca.issue('old', { inDays: -2, days: -1 }), /because it has expired\. Renew/],
    ['expired', 'tls1_3', ca.issue('old', { inDays: -2, days: -1 }), /because it has expired\. Renew/],
  ];
  for (const [what, version, client, message] of table) {
    test(`${what}, ${version}`, async (t) => {
      const { port, output } = await startServer(t, version);
      const own = { VAULT_CLIENT_CERT: client?.certFile ?? '', VAULT_CLIENT_KEY: client?.keyFile ?? '' };
      const { code, stderr } = await runCli(['http', '--path', '/v1/x'], {
        env: {
          VAULT_ADDR: `https://127.0.0.1:${port}`,
          VAULT_TOKEN: TOKEN,
          VAULT_CACERT: ca.ca.certFile,
          ...own,
        },
      });
      assert.match(stderr, message);
      assert.equal(code, 2);
      assert.doesNotMatch(output(), /hvs/);
    });
  }
});

/** @param {TestContext} t @param {string} version option of s_server */
async function startServer(t, version) {
  const files = ['-cert', good.certFile, '-key', good.keyFile, '-CAfile', ca.ca.certFile];
  const options = ['-Verify', '1', '-verify_return_error', `-${version}`];
  const child = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...files, ...options], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => child.kill());
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  for (;;) {
    const port = /ACCEPT .*:(\d+)/.exec(output)?.[1];
    if (port !== undefined) return { port, output: () => output };
    await once(child.stdout, 'data');
  }
}

after(() => ca.close());
