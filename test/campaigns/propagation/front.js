/** An HTTP server in front of the embedded one: passes requests on, but for those that a test answers itself. */
import { createServer } from 'node:http';
import { measurePropagation } from '../../../src/campaigns/propagation/propagate.js';
import { planPropagation } from '../../../src/campaigns/propagation/propagation-plan.js';
import { readEnvironment } from '../../../src/vault/environment.js';

/** @import { PkiLoadError } from '../../../src/common/errors.js' */
/** @import { AddressInfo } from 'node:net' */

/** @typedef {{status?: number, json: Record<string, any>}} Own */

/** What goes on to the server behind; the rest is of a connection. */
const PASSED_ON = ['accept', 'content-type', 'x-vault-request', 'x-vault-token'];

/**
 * @param {string} url of the server behind
 * @param {(path: string, data: string) => Own | null} own null: it is passed on
 */
export async function startFront(url, own) {
  /** Paths, below /v1/, in the order in which they were asked for. @type {string[]} */
  const asked = [];
  const front = createServer(async (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = String(request.url).slice('/v1/'.length);
    asked.push(path);
    const said = own(path, body.toString());
    if (said !== null) return void response.writeHead(said.status ?? 200).end(JSON.stringify(said.json));
    const headers = Object.entries(request.headers).filter(([name]) => PASSED_ON.includes(name));
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
      body: body.length > 0 ? body : undefined,
    });
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((resolve) => front.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {AddressInfo} */ (front.address());
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async stop() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

/**
 * Measures the embedded server through a front.
 *
 * @param {{url: string, token: string}} server
 * @param {(path: string, data: string) => Own | null} own
 * @param {Record<string, unknown>} [options] of `propagation`
 */
export async function measureBehind({ url, token }, own, options = {}) {
  const front = await startFront(url, own);
  const { asked } = front;
  const quick = { role: 'example-dot-com-ec', certificates: 1, pause: 0, url: front.url, ...options };
  try {
    const plan = planPropagation(quick, readEnvironment({}, { home: '/nonexistent' }));
    return { found: await measurePropagation(plan, { token }), error: null, asked };
  } catch (error) {
    return {
      found: null,
      error: /** @type {PkiLoadError} */ (error),
      asked,
    };
  } finally {
    await front.stop();
  }
}
