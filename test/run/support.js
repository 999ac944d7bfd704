/** Targets for runs that go wrong halfway. */
import assert from 'node:assert/strict';
import { createServer, request as httpRequest } from 'node:http';
import { LAST_CALLS_MS } from '../../src/common/stop.js';
import { checkResult, createPlan, readEnvironment, run } from '../../src/index.js';
import { TestCa } from '../pki/openssl-ca.js';
import { BEHAVIOURS, DEFAULTS } from '../targets/behaviours.js';

/** @import { Result } from '../../src/result/schema.js' */
/** @import { Context, Settings } from '../targets/behaviours.js' */
/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */
/** @import { TestContext } from 'node:test' */

/** @typedef {{method: string, path: string, body: string, atNs: bigint}} Seen a request under load */
/** @typedef {(context: Context) => void} Behaviour */

/** What is sent under load, as opposed to setup calls. */
const UNDER_LOAD = /^\/v1\/[^/]+\/(?:(?:issue|sign)\/|ocsp)/;

/**
 * Between the tool and a Vault: setup calls pass, requests under load are noted and may be answered by a fault.
 * @param {string} upstream
 * @param {{passed?: number}} [options] so many requests under load are let through first
 */
export async function startFaultProxy(upstream, { passed = 0 } = {}) {
  /** @type {Seen[]} */
  const seen = [];
  /** @type {Behaviour | null} */
  let fault = null;
  let settings = { ...DEFAULTS };
  /** @type {(req: IncomingMessage) => boolean} */
  let hits = (req) => UNDER_LOAD.test(req.url ?? '');
  let left = passed;
  const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    /** @type {Buffer[]} */
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method = '', url: path = '' } = req;
      const hit = hits(req);
      if (hit) seen.push({ method, path, body: body.toString('latin1'), atNs: process.hrtime.bigint() });
      if (!hit || fault === null || left-- > 0) return forward(upstream, req, body, res);
      const startNs = process.hrtime.bigint();
      const elapsedMs = () => Number(process.hrtime.bigint() - startNs) / 1e6;
      fault({ req, res, socket: req.socket, settings, elapsedMs });
    });
  });
  server.on('connection', (socket) => socket.setNoDelay(true).on('error', () => {}));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    /**
     * From now on; the count of those let through starts again.
     * @param {string | Behaviour | null} which a name in behaviours.js
     * @param {Partial<Settings>} [changes]
     */
    inject(which, changes = {}) {
      fault = typeof which === 'string' ? BEHAVIOURS[which] : which;
      settings = { ...DEFAULTS, ...changes };
      left = passed;
      seen.length = 0;
    },
    /** @param {(req: IncomingMessage) => boolean} which requests a fault is for */
    aim(which) {
      hits = which;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {string} upstream @param {IncomingMessage} req @param {Buffer} body @param {ServerResponse} res */
function forward(upstream, req, body, res) {
  const { method, headers } = req;
  const onward = httpRequest(`${upstream}${req.url}`, { method, headers, agent: false }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  onward.on('error', () => res.writeHead(502).end());
  onward.end(body);
}

/**
 * What calls in flight are given after a stop passes at once.
 *
 * @param {TestContext} t @param {AbortController} stop
 */
export function abortAndWait(t, stop) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  stop.abort();
  t.mock.timers.tick(LAST_CALLS_MS);
  t.mock.timers.reset();
}

/** As `run`, for a result whose numbers agree with each other. @type {typeof run} */
export async function runChecked(plan, options) {
  const result = await run(plan, options);
  assert.deepEqual(checkResult(result), []);
  return result;
}

/**
 * @param {string} operation
 * @param {Record<string, unknown>} options
 * @param {string} [token]
 * @returns {Promise<Result>} whose numbers agree with each other
 */
export async function runHere(operation, options, token) {
  const result = await runChecked(
    await createPlan(operation, { coldStart: true, ...options }, readEnvironment({})),
    { token },
  );
  const { planned, sent, dropped, neverSent } = result.totals;
  assert.equal(sent + dropped + neverSent, planned);
  return result;
}

/**
 * A certificate, its issuer, and the answer of its responder as bytes that any server can give.
 * @param {{after: (fn: () => void) => void}} context
 */
export function cannedOcsp(context) {
  const ca = new TestCa();
  context.after(() => ca.close());
  const leaf = ca.issue('leaf');
  const response = ca.respond(ca.request(leaf, ['-no_nonce']));
  return { args: ['ocsp', '--cert', leaf.certFile, '--issuer', ca.ca.certFile], response };
}
