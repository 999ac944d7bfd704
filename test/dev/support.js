/** Shared by the tests of the embedded server: requests, and OpenSSL as a judge that knows nothing of our code. */
import '../need-openssl.js';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
/** @import { IncomingHttpHeaders } from 'node:http' */

/**
 * @param {{after: (fn: () => void) => void}} context of `node:test`
 * @returns {(name: string, content: string | Uint8Array) => string} writes a file that goes with the test
 */
export function scratch(context) {
  const directory = mkdtempSync(join(tmpdir(), 'vpl-dev-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return (name, content) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
}

/**
 * Blocks this process: not for commands that a server in it has to answer.
 * @param {...string} args
 * @returns {{status: number | null, text: string}} both streams
 */
export function openssl(...args) {
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

/**
 * @param {{url: string, token?: string}} server
 * @param {string} method
 * @param {string} path below `/v1/`
 * @param {unknown} [body] an object is sent as JSON, bytes as they are
 * @param {Record<string, string>} [headers]
 * @returns {Promise<{status: number, headers: IncomingHttpHeaders, body: Buffer, json: any}>}
 */
export function ask(server, method, path, body, headers = {}) {
  const bytes =
    body === undefined ? undefined : body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  const token = server.token === undefined ? {} : { 'X-Vault-Token': server.token };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${server.url}/v1/${path}`,
      { method, headers: { ...token, ...headers } },
      (response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const all = Buffer.concat(chunks);
          const isJson = response.headers['content-type'] === 'application/json' && all.length > 0;
          const json = isJson ? JSON.parse(all.toString()) : undefined;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: all, json });
        });
      },
    );
    request.on('error', reject);
    request.end(bytes);
  });
}

/** @param {string} pem */
export function derOf(pem) {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}
