import assert from 'node:assert/strict';
import { request } from 'node:https';
import { describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { createStreams } from '../../src/http/http2-connection.js';
import { exchange } from '../http/raw-server.js';

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

  it('speaks HTTP/2, also with LIST and bodies, and closes its connections at the end', async () => {
    const server = await createDevServer({ caKeyType: 'ec', tls: true });
    const [stream] = createStreams({
      origin: server.url,
      tls: { ca: [server.rootPem], rejectUnauthorized: true },
      streams: 1,
    });
    const headers = { 'X-Vault-Token': server.token };
    const body = JSON.stringify({ common_name: 'localhost' });
    const path = '/v1/pki_int/issue/example-dot-com-ec';
    const issued = await exchange(stream, { method: 'POST', path, headers, body }).ended;
    assert.match(String(issued.answer?.body), /BEGIN CERTIFICATE/);
    const listed = await exchange(stream, { method: 'LIST', path: '/v1/pki_int/certs', headers }).ended;
    assert.equal(listed.answer?.status, 200);
    await server.close();
    await stream.close();
  });
});
