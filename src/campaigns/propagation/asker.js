/** One node's OCSP responder: as many connections as requests are under way, each answer judged as RFC 6960, 3.2 demands. */
import { createConnection } from '../../http/connection.js';
import { parseTargetUrl } from '../../http/request.js';
import { refusal } from '../../operations/outcomes.js';
import { apiPath } from '../../operations/request-parts.js';
import { createOcspChecker, isOcspStatus } from '../../pki/ocsp-check.js';
import { buildOcspRequest, createCertId } from '../../pki/ocsp-request.js';
/** @import { Connection } from '../../http/exchange.js' */
/** @import { Tls } from '../../http/tls.js' */
/** @import { OcspChecker, OcspVerdict } from '../../pki/ocsp-check.js' */
/** @import { PollClock } from './watch.js' */

/**
 * @typedef {object} Question about one certificate
 * @property {Buffer} body OCSP request in DER
 * @property {{raw: Uint8Array}} certId
 * @property {OcspChecker} checker of its issuer
 */
/**
 * @typedef {object} Answered
 * @property {string} outcome `good`, `revoked`, `unknown`, or why it is no answer that counts
 * @property {number | null} sentMs null: it never went on the wire
 * @property {number} arrivedMs
 */
/**
 * @typedef {object} Asker
 * @property {(question: Question, onAnswer: (answered: Answered) => void) => void} ask at once: there is always a connection
 * @property {() => Promise<void>} close polls in flight end as `aborted`
 */

/**
 * @param {object} options
 * @param {string} options.url of the node
 * @param {string} options.mount
 * @param {string | null} options.namespace
 * @param {Tls} options.tls
 * @param {number} options.timeoutMs of one poll, connecting included
 * @param {PollClock} options.clock
 * @param {typeof createConnection} [options.connect]
 * @returns {Asker}
 */
export function createAsker({ url, mount, namespace, tls, timeoutMs, clock, connect = createConnection }) {
  const { origin, basePath } = parseTargetUrl(url, '--node');
  const path = apiPath(basePath, mount, 'ocsp');
  const headers = {
    accept: 'application/ocsp-response',
    'content-type': 'application/ocsp-request',
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  };
  /** @type {Connection[]} */
  const all = [];
  /** @type {Connection[]} */
  const free = [];
  /** Ends the polls under way. @type {Set<() => void>} */
  const underWay = new Set();

  function take() {
    const taken = free.pop();
    if (taken !== undefined) return taken;
    const made = connect({ origin, tls });
    all.push(made);
    return made;
  }

  return {
    ask({ body, certId, checker }, onAnswer) {
      const connection = take();
      /** @type {number | null} */
      let sentMs = null;
      const done = (/** @type {string} */ outcome, /** @type {number} */ arrivedMs) => {
        clock.clearTimer(timer);
        underWay.delete(cutOff);
        free.push(connection);
        onAnswer({ outcome, sentMs, arrivedMs });
      };
      const giveUp = (/** @type {string} */ outcome) => {
        connection.abort();
        done(outcome, clock.now());
      };
      const cutOff = () => giveUp('aborted');
      const timer = clock.setTimer(() => giveUp('timeout'), timeoutMs);
      underWay.add(cutOff);
      connection.send(
        { method: 'POST', path, headers, body },
        {
          onSent() {
            sentMs = clock.now();
          },
          onAnswer(status, bytes) {
            const arrivedMs = clock.now();
            done(
              outcomeOf(status, checker.check(bytes, { certId, nonce: null, nowMs: Date.now() })),
              arrivedMs,
            );
          },
          onFailure: (outcome) => done(outcome, clock.now()),
        },
      );
    },
    async close() {
      for (const cutOff of [...underWay]) cutOff();
      await Promise.all(all.map((connection) => connection.close()));
    },
  };
}

/**
 * RFC 6960 lets errors come with any HTTP status, so a body that is an OCSP response counts before the HTTP status does; but what
 * does not come with HTTP 2xx is no answer about a certificate.
 *
 * @param {number} status of HTTP
 * @param {OcspVerdict} verdict
 */
export function outcomeOf(status, verdict) {
  if (status >= 200 && status < 300) return verdict;
  return verdict === 'not_ocsp' || isOcspStatus(verdict) ? refusal(status).outcome : verdict;
}

/** Makes questions about the certificates of few issuers. */
export function createQuestioner() {
  /** @type {Map<string, OcspChecker>} by the issuer's certificate */
  const checkers = new Map();
  return {
    /**
     * @param {{der: Uint8Array}} issuer
     * @param {Uint8Array} serial INTEGER contents
     * @returns {Promise<Question>}
     */
    async about({ der }, serial) {
      const key = Buffer.from(der).toString('latin1');
      const checker = checkers.get(key) ?? createOcspChecker({ issuerDer: der });
      checkers.set(key, checker);
      const certId = await createCertId({ issuerDer: der, serial, hash: 'sha1' });
      return { body: await buildOcspRequest({ certId }), certId, checker };
    },
  };
}
