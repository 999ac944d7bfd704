/**
 * Every fault of a target has a name. A real connection takes each answer from a real server, the classifiers of `issue` and
 * `ocsp` judge it. That whole runs account for every arrival: library.test.js.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createAuthorities } from '../../src/dev/certificate.js';
import { createSlots } from '../../src/engine/slots.js';
import { createConnection } from '../../src/http/connection.js';
import { loadOperation } from '../../src/operations/index.js';
import { readKinds } from '../../src/operations/ocsp-kinds.js';
import { createRequestSet } from '../../src/operations/ocsp-requests.js';
import { createSerialMemory } from '../../src/operations/serial-set.js';
import { parseSerial } from '../../src/pki/text.js';
import { makePlan } from '../../src/plan/plan.js';
import { readEnvironment } from '../../src/vault/environment.js';
import { BEHAVIOURS, DEFAULTS } from '../targets/behaviours.js';

/** @import { Settings } from '../targets/behaviours.js' */
/** @import { AddressInfo } from 'node:net' */

/** @typedef {(status: number, body: Uint8Array, index: number) => {outcome: string}} Classify */

const TIMEOUT_MS = 5000;

const clock = { nowMs: 0 };
const fault = { behaviour: 'ok', settings: DEFAULTS, waits: false };
let onRequest = () => {};
const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
  onRequest();
  const startMs = performance.now();
  BEHAVIOURS[fault.behaviour]({
    req: req.resume(),
    res,
    socket: req.socket,
    settings: fault.settings,
    elapsedMs: () => performance.now() - startMs,
  });
});
/** @type {Record<string, Classify>} */
const classifiers = {};
let origin = '';

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { intermediate } = await createAuthorities('ec');
  const { port } = /** @type {AddressInfo} */ (server.address());
  origin = `http://127.0.0.1:${port}`;
  const [issue, ocsp] = await Promise.all(['issue', 'ocsp'].map(loadOperation));
  const plan = (/** @type {typeof issue} */ operation) =>
    makePlan(operation, { seed: 1 }, readEnvironment({}));
  const issuerDer = Buffer.from(intermediate.pem.replace(/-----[^-]+-----/g, ''), 'base64');
  const { hash, nonce, expect, method } = plan(ocsp).options;
  const set = { issuerDer, serials: [parseSerial('01')], order: Uint32Array.of(0), hash, nonce };
  const kinds = [{ ...readKinds([], expect)[0], requests: createRequestSet(set) }];
  const fixture = { origin, path: '/ocsp', method, issuerDer, kinds, headers: {} };
  classifiers.issue = issue.createClassifier(plan(issue), { serials: createSerialMemory(), csrs: null });
  classifiers.ocsp = ocsp.createClassifier(plan(ocsp), fixture);
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  clock.nowMs = 0;
});

/** @param {Classify} classify @returns {Promise<string>} outcome of one request; time passes once the target has it */
async function outcomeOf(classify) {
  const connection = createConnection({ origin, tls: { rejectUnauthorized: true } });
  try {
    return await new Promise((resolve) => {
      const slots = createSlots({
        clock: () => clock.nowMs,
        connections: [connection],
        request: () => ({ method: 'POST', path: '/v1/x', headers: {}, body: 'asked' }),
        timeoutMs: TIMEOUT_MS,
        backOffAfterFailedConnect: false,
        onDone: (_slot, { failure, status, body }) =>
          resolve(failure ?? classify(status, body ?? new Uint8Array(0), 0).outcome),
        onFree() {},
      });
      onRequest = () => {
        if (fault.waits)
          setTimeout(() => {
            clock.nowMs = TIMEOUT_MS;
            slots.expire();
          }, 20);
      };
      slots.fire(0, 0);
    });
  } finally {
    await connection.close();
  }
}

/** @param {number} status @param {string} body */
const answer = (status, body) => ({ status, body: Buffer.from(body).toString('base64') });
const errors = (/** @type {string} */ text) => JSON.stringify({ errors: [text] });

/** @type {[string, Partial<Settings>, string, string | null][]} behaviour, its
 *   settings, outcome of issue, outcome of ocsp or null where it would be the same as above */
const FAULTS = [
  ['truncated-json', {}, 'not_json', 'not_ocsp'],
  ['not-json', {}, 'not_json', 'not_ocsp'],
  ['empty-body', {}, 'not_json', null],
  ['error-in-200', {}, 'error_body', null],
  ['ok', {}, 'no_certificate', null],
  ['ok', answer(200, 'null'), 'not_json', null],
  ['ok', answer(200, '[]'), 'not_json', null],
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
  ['delay', { delayMs: 200 }, 'timeout', 'timeout'],
  ['silent', {}, 'timeout', 'timeout'],
  ['drip', { delayMs: 200 }, 'timeout', 'timeout'],
  ['stalls-in-body', {}, 'timeout', 'timeout'],
  ['close-before-answer', {}, 'connection_reset', 'connection_reset'],
  ['reset', {}, 'connection_reset', 'connection_reset'],
  ['close-in-head', {}, 'connection_reset', 'connection_reset'],
  ['close-in-body', {}, 'truncated', 'truncated'],
  ['close-in-chunk', {}, 'truncated', 'truncated'],
  ['garbage', {}, 'bad_http', 'bad_http'],
  ['large', { bytes: 2 * 1024 * 1024 }, 'response_too_large', 'response_too_large'],
];

for (const [which, command] of ['issue', 'ocsp'].entries()) {
  describe(`the outcome of ${command} for the target behaviour`, () => {
    for (const [behaviour, changes, ...outcomes] of FAULTS) {
      const outcome = outcomes[which];
      if (outcome === null) continue;
      const named = Object.keys(changes).length === 0 ? '' : ` ${JSON.stringify(changes)}`;
      test(`${behaviour}${named}: ${outcome}`, async () => {
        Object.assign(fault, {
          behaviour,
          settings: { ...DEFAULTS, ...changes },
          waits: outcome === 'timeout',
        });
        assert.equal(await outcomeOf(classifiers[command]), outcome);
      });
    }
  });
}
