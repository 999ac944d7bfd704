import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createQueryBuilder,
  createResponder,
  outcomeOf,
} from '../../../src/campaigns/propagation/responder.js';
import { loadTls } from '../../../src/http/tls.js';
import { createFakeTime } from './fake-time.js';

/** @import { Exchange } from '../../../src/http/exchange.js' */
/** @import { OcspVerdict } from '../../../src/pki/ocsp-check.js' */

/** @type {any} */
const QUESTION = {
  body: Buffer.from('asked'),
  certId: { raw: Buffer.from([1]) },
  checker: { check: () => 'good' },
};

/** @param {{namespace?: string | null}} [options] */
function responder({ namespace = null } = {}) {
  const time = createFakeTime();
  /** @type {{request: any, exchange: Exchange, aborted: boolean, closed: boolean}[]} */
  const made = [];
  const connect = () => {
    const one = /** @type {typeof made[number]} */ ({ aborted: false, closed: false });
    made.push(one);
    return {
      open: async () => {},
      send(/** @type {any} */ request, /** @type {Exchange} */ exchange) {
        Object.assign(one, { request, exchange });
      },
      abort: () => {
        one.aborted = true;
      },
      isOpen: () => true,
      close: async () => {
        one.closed = true;
      },
    };
  };
  const url = 'http://127.0.0.1:8200/base';
  const place = { url, mount: 'a/pki', namespace, tls: loadTls({}), timeoutMs: 500, clock: time };
  const own = createResponder(place, connect);
  return { own, time, made };
}

test('sends the query, and reports the send and arrival times', async () => {
  const { own, time, made } = responder({ namespace: 'team' });
  /** @type {unknown[]} */
  const answers = [];
  own.query(QUESTION, (answered) => answers.push(answered));
  const { request, exchange } = made[0];
  assert.deepEqual(
    [request.method, request.path, String(request.body)],
    ['POST', '/base/v1/a/pki/ocsp', 'asked'],
  );
  assert.equal(request.headers['content-type'], 'application/ocsp-request');
  assert.equal(request.headers['x-vault-namespace'], 'team');
  assert.ok(!Object.keys(request.headers).some((name) => /token/i.test(name)), 'sends no token');
  await time.until(3);
  exchange.onSent();
  await time.until(8);
  exchange.onResponse(200, Buffer.alloc(0));
  assert.deepEqual(answers, [{ outcome: 'good', sentMs: 3, arrivedMs: 8 }]);
  assert.equal(time.waiting(), 0);
});

test('uses one connection per request in flight, and reuses each', () => {
  const { own, made } = responder();
  for (let i = 0; i < 50; i++) own.query(QUESTION, () => {});
  assert.ok(made.length === 50 && made.every(({ request }) => request !== undefined));
  const again = made[7];
  again.exchange.onFailure('connection_reset', false);
  again.request = undefined;
  own.query(QUESTION, () => {});
  assert.ok(made.length === 50 && again.request !== undefined);
});

test('a query that was never sent has no send time', async () => {
  const { own, made } = responder();
  /** @type {unknown[]} */
  const answers = [];
  own.query(QUESTION, (answered) => answers.push(answered));
  made[0].exchange.onFailure('connection_refused', true);
  assert.deepEqual(answers, [{ outcome: 'connection_refused', sentMs: null, arrivedMs: 0 }]);
});

test('gives up after --timeout, and frees the connection', async () => {
  const { own, time, made } = responder();
  /** @type {unknown[]} */
  const answers = [];
  own.query(QUESTION, (answered) => answers.push(answered));
  made[0].exchange.onSent();
  await time.until(499);
  assert.deepEqual(answers, []);
  await time.until(500);
  assert.deepEqual(answers, [{ outcome: 'timeout', sentMs: 0, arrivedMs: 500 }]);
  assert.ok(made[0].aborted);
  own.query(QUESTION, () => {});
  assert.equal(made.length, 1);
});

test('close ends queries in flight as aborted', async () => {
  const { own, time, made } = responder();
  /** @type {string[]} */
  const answers = [];
  own.query(QUESTION, ({ outcome }) => answers.push(outcome));
  own.query(QUESTION, ({ outcome }) => answers.push(outcome));
  await own.close();
  assert.deepEqual(answers, ['aborted', 'aborted']);
  assert.ok(made.every(({ closed }) => closed));
  assert.equal(time.waiting(), 0);
});

describe('outcomeOf', () => {
  /** @type {[number, OcspVerdict, string, string][]} */
  const cases = [
    [200, 'good', 'good', 'a status'],
    [200, 'bad_signature', 'bad_signature', 'a check that failed'],
    [200, 'not_ocsp', 'not_ocsp', 'something else'],
    [500, 'not_ocsp', 'server_error', 'an HTTP error'],
    [503, 'not_ocsp', 'unavailable', 'sealed'],
    [500, 'ocsp_internal_error', 'ocsp_internal_error', 'an OCSP error that comes with an HTTP error'],
    [404, 'revoked', 'not_found', 'a status that comes with an HTTP error is ignored'],
    [307, 'not_ocsp', 'redirected', 'a redirect'],
  ];
  for (const [status, verdict, outcome, sentence] of cases) {
    test(`${sentence}: HTTP ${status} and ${verdict} is ${outcome}`, () => {
      assert.equal(outcomeOf(status, verdict), outcome);
    });
  }
});

test('certificates of one issuer share a checker, so repeated responses are verified once', async () => {
  const { createDevServer } = await import('../../../src/dev/server.js');
  const { readCertificates } = await import('../../../src/pki/certificate.js');
  const server = await createDevServer();
  const [issuer] = readCertificates(Buffer.from(server.caPem), 'the CA');
  await server.close();
  const buildQuery = createQueryBuilder();
  const [one, other] = [1, 2].map((serial) => buildQuery(issuer, Buffer.from([serial])));
  assert.equal(one.checker, other.checker);
  assert.notDeepEqual(one.body, other.body);
});
