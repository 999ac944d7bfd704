/** Serves the fake Vault over HTTP. */
import { createServer } from 'node:http';
import { PkiLoadError } from '../../../src/common/errors.js';
import { deferred } from '../../deferred.js';
import { fakeVault } from './fake-vault.js';
/** @import { AddressInfo } from 'node:net' */
/** @import { TestContext } from 'node:test' */

/**
 * @param {TestContext} t
 * @param {string} [held] method and path of the call that is answered when `release` is called
 */
export async function serveFakeVault(t, held) {
  const vault = fakeVault();
  const { promise: reached, resolve: reach } = deferred();
  const { promise: released, resolve: release } = deferred();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { pathname, search } = new URL(String(request.url), 'http://vault.test');
    const path = pathname.slice('/v1/'.length);
    if (`${request.method} ${path}` === held) {
      reach();
      await released;
    }
    const [status, json] = await answer(vault, { method: String(request.method), path, search, body });
    response.writeHead(status).end(json === null ? '' : JSON.stringify(json));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  t.after(() => server.close(() => {}).closeAllConnections());
  const { port } = /** @type {AddressInfo} */ (server.address());
  return { vault, url: `http://127.0.0.1:${port}`, reached, release };
}

/**
 * @param {ReturnType<typeof fakeVault>} vault
 * @param {{method: string, path: string, search: string, body: string}} asked
 * @returns {Promise<[number, object | null]>} status and body, like Vault
 */
async function answer({ client }, { method, path, search, body }) {
  try {
    if (path === 'sys/health') return [200, (await client.health()).json];
    if (search === '?list=true') return [200, { data: { keys: await client.list(path) } }];
    if (method === 'GET') return [200, await client.read(path)];
    const { data } =
      method === 'DELETE' ? await client.remove(path) : await client.write(path, JSON.parse(body));
    return data === null || data === undefined ? [204, null] : [200, { data }];
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    if (error.code === 'vault_not_found') return [404, { errors: [] }];
    return [400, { errors: [error.message] }];
  }
}
