import assert from 'node:assert/strict';
import { request } from 'node:https';
import { describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';

/** @import { RequestOptions } from 'node:https' */

/** @param {string} url @param {RequestOptions} options @returns {Promise<number | undefined>} status */
function status(url, options) {
  return new Promise((resolve, reject) => {
    request(`${url}/v1/sys/health`, { ...options, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('HTTPS', () => {
  it('is trusted only with the root certificate, for localhost and the loopback addresses', async () => {
    const server = await createDevServer({ caKeyType: 'ec', tls: true });
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(await status(server.url, { ca: server.rootPem }), 200);
    assert.equal(await status(server.url, { ca: server.rootPem, servername: 'localhost' }), 200);
    await assert.rejects(status(server.url, {}), { code: /UNABLE_TO|SELF_SIGNED/ });
    await assert.rejects(
      status(server.url, { ca: server.rootPem, servername: 'other.test', checkServerIdentity: undefined }),
    );
    await server.close();
  });
});
