/** A Vault that passes preflight and then misbehaves: every answer has a name, every arrival is accounted for. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { assertDone, EC, rightResult, runCli } from '../cli/support.js';
import { runHere, startFaultProxy } from './support.js';

/** @type {import('../../src/dev/spawn.js').SpawnedDevServer} */
let server;
before(async () => {
  server = await startDevServer({ caKeyType: 'ec' });
});
after(() => server.stop());

/** Let through before the faults begin; `ocsp` has a certificate issued before the run. */
const PASSED = 5;
const LOAD = { role: 'example-dot-com-ec', rate: '50/s', requests: 20, concurrency: 20 };

/** @param {number} status @param {string} body */
const answer = (status, body) => ({ status, body: Buffer.from(body).toString('base64') });
const errors = (/** @type {string} */ text) => JSON.stringify({ errors: [text] });

/** @type {[string, Partial<import('../targets/behaviours.js').Settings>, string, string | null][]} behaviour, its
 *   settings, outcome of issue, outcome of ocsp or null where it would be the same as above */
const FAULTS = [
  ['truncated-json', {}, 'not_json', 'not_ocsp'],
  ['not-json', {}, 'not_json', 'not_ocsp'],
  ['empty-body', {}, 'not_json', null],
  ['error-in-200', {}, 'error_body', null],
  ['ok', {}, 'no_certificate', null],
  ['ok', answer(200, 'null'), 'no_certificate', null],
  ['ok', answer(200, '[]'), 'no_certificate', null],
  ['ok', answer(200, '{"data":[]}'), 'no_certificate', null],
  ['ok', answer(200, '{"data":{"certificate":7,"issuing_ca":{}}}'), 'no_certificate', null],
  ['ok', answer(200, '{"data":{"certificate":"x"}}'), 'certificate_unreadable', null],
  ['chunked', answer(200, '{"data":{}}'), 'no_certificate', 'not_ocsp'],
  ['http-1.0', {}, 'no_certificate', null],
  ['ok', answer(400, errors('common name x not allowed')), 'bad_request', 'bad_request'],
  ['ok', answer(403, errors('permission denied')), 'permission_denied', 'permission_denied'],
  ['ok', answer(404, errors('no handler for route')), 'not_found', 'not_found'],
  ['rate-limited', {}, 'rate_limited', 'rate_limited'],
  ['ok', answer(473, errors('standby')), 'standby', 'standby'],
  ['error-500', {}, 'server_error', 'server_error'],
  ['ok', answer(502, '<html>Bad Gateway</html>'), 'bad_gateway', 'bad_gateway'],
  ['ok', answer(503, errors('Vault is sealed')), 'unavailable', 'unavailable'],
  ['ok', answer(418, 'tea'), 'http_error', 'http_error'],
  ['redirect-self', {}, 'redirected', 'redirected'],
  ['redirect-elsewhere', {}, 'redirected', 'redirected'],
  ['delay', { delayMs: 20_000 }, 'timeout', 'timeout'],
  ['silent', {}, 'timeout', 'timeout'],
  ['drip', { delayMs: 1000 }, 'timeout', 'timeout'],
  ['stalls-in-body', {}, 'timeout', 'timeout'],
  ['close-before-answer', {}, 'connection_reset', 'connection_reset'],
  ['reset', {}, 'connection_reset', 'connection_reset'],
  ['close-in-head', {}, 'connection_reset', 'connection_reset'],
  ['close-in-body', {}, 'truncated', 'truncated'],
  ['close-in-chunk', {}, 'truncated', 'truncated'],
  ['garbage', {}, 'bad_http', 'bad_http'],
  ['large', { bytes: 2 * 1024 * 1024 }, 'answer_too_large', 'answer_too_large'],
];

/** @type {[string, 0 | 1, number, string][]} command, which of the outcomes, let through, outcome of a success */
const COMMANDS = [
  ['issue', 0, PASSED, 'issued'],
  ['ocsp', 1, PASSED + 1, 'good'],
];

for (const [command, which, passed, success] of COMMANDS) {
  describe(`${command} with an answer that is`, { concurrency: 4 }, () => {
    for (const [behaviour, settings, ...outcomes] of FAULTS) {
      const outcome = outcomes[which];
      if (outcome === null) continue;
      const named = Object.keys(settings).length === 0 ? '' : ` ${JSON.stringify(settings)}`;
      test(`${behaviour}${named}: ${outcome}`, async (t) => {
        const proxy = await startFaultProxy(server.url, { passed });
        t.after(proxy.close);
        proxy.inject(behaviour, settings);
        // Short only where it is waited for: a busy machine is slow to give the right answers, too.
        const timeout = outcome === 'timeout' ? '5s' : '60s';
        const result = await runHere(command, { ...LOAD, url: proxy.url, timeout }, server.token);
        assert.deepEqual(result.outcomes, { [success]: PASSED, [outcome]: 15 });
        assert.equal(result.totals.planned, 20);
      });
    }
  });
}

for (const [command, , passed] of COMMANDS) {
  test(`${command} from the command line: the same, without a stack trace`, async (t) => {
    const proxy = await startFaultProxy(server.url, { passed });
    t.after(proxy.close);
    proxy.inject('garbage');
    const args = [command, ...EC, '--rate', '50/s', '--requests', '20', '--format', 'json'];
    const ended = await runCli(args, { env: { VAULT_ADDR: proxy.url, VAULT_TOKEN: server.token } });
    assertDone(ended);
    assert.equal(rightResult(ended.stdout).outcomes.bad_http, 15);
  });
}
