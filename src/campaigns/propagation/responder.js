/** One node's OCSP responder: a connection per query in flight; responses are checked per RFC 6960, 3.2. */
import { createConnection } from '../../http/connection.js';
import { parseTargetUrl } from '../../http/request.js';
import { refusal } from '../../operations/outcomes.js';
import { apiPath, vaultHeaders } from '../../operations/request-parts.js';
import { memoize } from '../../pki/memoize.js';
import { createOcspChecker, isOcspStatus } from '../../pki/ocsp-check.js';
import { buildOcspRequest, createCertId } from '../../pki/ocsp-request.js';
/** @import { Connection } from '../../http/exchange.js' */
/** @import { Tls } from '../../http/tls.js' */
/** @import { OcspChecker, OcspVerdict } from '../../pki/ocsp-check.js' */

/** @typedef {{body: Buffer, certId: {raw: Uint8Array}, checker: OcspChecker}} Query of one issuer */
/** @typedef {{outcome: string, sentMs: number | null, arrivedMs: number}} Reply
 *   `outcome`: `good`, `revoked`, `unknown` or the failure; `sentMs`: null if the query was never sent */
/** @typedef {{now: () => number, setTimer: (callback: () => void, ms: number) => any, clearTimer: (timer: any) => void}} Clock
 *   ms, monotonic */
/** @typedef {ReturnType<typeof createResponder>} Responder */

/**
 * @param {{url: string, mount: string, namespace: string | null, tls: Tls, timeoutMs: number,
 *   clock: Clock}} node `timeoutMs`: per query, including the connection setup
 * @param {(options: {origin: string, tls: Tls, timeoutMs: number}) => Connection} [open]
 */
export function createResponder({ url, mount, namespace, tls, timeoutMs, clock }, open = createConnection) {
  const { origin, basePath } = parseTargetUrl(url, '--node');
  const path = apiPath(basePath, mount, 'ocsp');
  const headers = {
    ...{ accept: 'application/ocsp-response', 'content-type': 'application/ocsp-request' },
    ...vaultHeaders(namespace),
  };
  /** @type {Connection[]} */
  const free = [];
  /** Callbacks that abort queries in flight. @type {Set<() => void>} */
  const inFlight = new Set();

  return {
    /** Opens a connection if none is free. @param {Query} query @param {(reply: Reply) => void} onReply */
    query({ body, certId, checker }, onReply) {
      const connection = free.pop() ?? open({ origin, tls, timeoutMs });
      /** @type {number | null} */
      let sentMs = null;
      const finish = (/** @type {string} */ outcome, arrivedMs = clock.now()) => {
        clock.clearTimer(timer);
        inFlight.delete(cutOff);
        free.push(connection);
        onReply({ outcome, sentMs, arrivedMs });
      };
      const giveUp = (/** @type {string} */ outcome) => {
        connection.abort();
        finish(outcome);
      };
      const cutOff = () => giveUp('aborted');
      const timer = clock.setTimer(() => giveUp('timeout'), timeoutMs);
      inFlight.add(cutOff);
      connection.send(
        { method: 'POST', path, headers, body },
        {
          onSent() {
            sentMs = clock.now();
          },
          onResponse(status, bytes) {
            const arrivedMs = clock.now();
            const verdict = checker.check(bytes, { certId, nonce: null, nowMs: Date.now() });
            finish(outcomeOf(status, verdict), arrivedMs);
          },
          onFailure: (outcome) => finish(outcome),
        },
      );
    },
    /** Queries in flight end as `aborted`. */
    async close() {
      for (const cutOff of [...inFlight]) cutOff();
      await Promise.all(free.map((connection) => connection.close()));
    },
  };
}

/**
 * RFC 6960 allows OCSP errors with any HTTP status, so an OCSP error in the body takes precedence over it. A
 * certificate status counts only with HTTP 2xx.
 * @param {number} status of HTTP @param {OcspVerdict} verdict
 */
export function outcomeOf(status, verdict) {
  if (status >= 200 && status < 300) return verdict;
  return verdict === 'not_ocsp' || isOcspStatus(verdict) ? refusal(status).outcome : verdict;
}

/** An issuer can be 1 MB long, and each certificate can have another. */
const MAX_CHECKERS = 4;

/** Builds queries; caches the checkers of the last issuers. */
export function createQueryBuilder() {
  const checkerOf = memoize(MAX_CHECKERS, (key) =>
    createOcspChecker({ issuerDer: Buffer.from(key, 'latin1') }),
  );
  /** @param {{der: Uint8Array}} issuer @param {Uint8Array} serial INTEGER contents @returns {Query} */
  return ({ der }, serial) => {
    const checker = checkerOf(Buffer.from(der).toString('latin1'));
    const certId = createCertId({ issuerDer: der, serial, hash: 'sha1' });
    return { body: buildOcspRequest({ certId }), certId, checker };
  };
}
