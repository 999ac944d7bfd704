import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { altNames, TestCa } from '../pki/test-ca.js';
import { measure, runCli, scratch } from './support.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { TLSSocket } from 'node:tls' */

describe('--client-certs DIR', () => {
  const ca = new TestCa();
  const server = ca.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
  const names = ['a', 'b', 'c'];
  const pairs = names.map((name) => ca.issue(name));
  const health = { initialized: true, sealed: false, standby: false, version: '1.21.1', enterprise: false };

  /** @param {import('node:test').TestContext} t */
  async function setUp(t) {
    const certs = scratch(t)('certs');
    mkdirSync(certs);
    for (const [i, { pem, keyPem }] of pairs.entries()) {
      writeFileSync(join(certs, `${names[i]}.pem`), pem);
      writeFileSync(join(certs, `${names[i]}.key`), keyPem);
    }
    /** @type {Record<string, number>} */
    const subjects = {};
    const options = { cert: server.pem, key: server.keyPem, requestCert: true, ca: ca.ca.pem };
    const target = createServer({ ...options, rejectUnauthorized: false }, (request, response) => {
      const socket = /** @type {TLSSocket} */ (request.socket);
      const name = String(socket.getPeerCertificate().subject?.CN);
      if (request.url === '/v1/x') subjects[name] = (subjects[name] ?? 0) + 1;
      response.end(JSON.stringify(health));
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    t.after(() => target.close());
    const url = `https://127.0.0.1:${/** @type {AddressInfo} */ (target.address()).port}`;
    const line = ['http', '--url', url, '--path', '/v1/x', '--token', 'none', '--ca-cert', ca.ca.certFile];
    return { certs, subjects, line: [...line, '--client-certs', certs, '--cold-start'] };
  }

  test('the connections of the load use the certificates in rotation', async (t) => {
    const { line, subjects } = await setUp(t);
    const load = ['--connections', 'new', '--concurrency', '3', '--rate', '60', '--requests', '30'];
    await measure([...line, ...load]);
    assert.deepEqual(Object.keys(subjects).sort(), ['a', 'b', 'c']);
    assert.equal(
      Object.values(subjects).reduce((sum, count) => sum + count),
      30,
    );
  });

  test('no output overwrites one of its files', async (t) => {
    const { line, certs } = await setUp(t);
    const key = join(certs, 'b.key');
    const before = readFileSync(key, 'utf8');
    const { code, stderr } = await runCli([...line, '--requests', '3', '--out', key]);
    assert.equal(code, 1);
    assert.match(stderr, /b\.key/);
    assert.equal(readFileSync(key, 'utf8'), before);
  });
});
