import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { createConnection } from '../../src/http/connection.js';
import { dnsName, ipAddress, makeCertificate } from './certificates.js';
import { exchange } from './raw-server.js';

const CONNECTIONS = 12;
const EXCHANGES = 40;

/** Answers with as many bytes as the path says, all of them the connection's own. */
const answer = /** @type {import('node:http').RequestListener} */ (
  (req, res) => {
    const [, length, letter] = (req.url ?? '').split('/');
    res.end(letter.repeat(Number(length)));
  }
);

/** @type {Awaited<ReturnType<typeof makeCertificate>>} */
let ca;
/** @type {import('node:http').Server[]} */
let servers;
/** @type {Record<'plain' | 'secure' | 'named', string>} */
let origins;
before(async () => {
  ca = await makeCertificate({ name: 'CA', isCa: true });
  const at = async (/** @type {import('pkijs').GeneralName} */ name) => {
    const { pem, keyPem } = await makeCertificate({ name: 'server', altNames: [name], issuer: ca });
    return createServer({ cert: pem, key: keyPem }, answer);
  };
  servers = [
    createPlainServer(answer),
    await at(ipAddress('127.0.0.1')),
    await at(dnsName('vault.example.com')),
  ];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const [plain, secure, named] = servers.map(
    (server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port,
  );
  origins = {
    plain: `http://127.0.0.1:${plain}`,
    secure: `https://127.0.0.1:${secure}`,
    named: `https://127.0.0.1:${named}`,
  };
});
after(() => {
  for (const server of servers) server.close().closeAllConnections();
});

describe('over TLS', () => {
  /** @type {[string, () => {origin: string, tls: import('../../src/http/tls.js').Tls}, string | number][]} */
  const table = [
    [
      'a certificate of the given CA',
      () => ({ origin: origins.secure, tls: { ca: [ca.pem], rejectUnauthorized: true } }),
      200,
    ],
    [
      'a certificate for the given name',
      () => ({
        origin: origins.named,
        tls: { ca: [ca.pem], servername: 'vault.example.com', rejectUnauthorized: true },
      }),
      200,
    ],
    [
      'a certificate for another name',
      () => ({ origin: origins.named, tls: { ca: [ca.pem], rejectUnauthorized: true } }),
      'certificate_name_mismatch',
    ],
    [
      'an unknown CA',
      () => ({ origin: origins.secure, tls: { rejectUnauthorized: true } }),
      'certificate_not_trusted',
    ],
    [
      'an unknown CA that does not matter',
      () => ({ origin: origins.secure, tls: { rejectUnauthorized: false } }),
      200,
    ],
    [
      'a port that speaks plain HTTP',
      () => ({ origin: origins.plain.replace('http', 'https'), tls: { rejectUnauthorized: true } }),
      'wrong_scheme_https_to_http_port',
    ],
  ];
  for (const [what, options, outcome] of table) {
    test(`${what}: ${outcome}`, async () => {
      const connection = createConnection(options());
      const told = await exchange(connection, { path: '/5/a' }).ended;
      assert.equal(told.answer?.status ?? told.failure, outcome);
      assert.equal(told.sent, outcome === 200 ? 1 : 0);
      assert.equal(told.beforeSent, outcome === 200 ? null : true);
      const opening = createConnection(options());
      if (outcome === 200) await opening.open(2000);
      else await assert.rejects(opening.open(2000));
      await Promise.all([connection.close(), opening.close()]);
    });
  }
});

for (const scheme of /** @type {const} */ (['plain', 'secure'])) {
  test(`connections that share a read buffer keep their answers apart, ${scheme}`, async () => {
    const lengths = [1, 700, 16_385, 0, 70_000, 3, 200_000];
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, n) => {
        const connection = createConnection({
          origin: origins[scheme],
          tls: { ca: [ca.pem], rejectUnauthorized: true },
        });
        const letter = String.fromCharCode(97 + n);
        await connection.open(2000);
        for (let i = 0; i < EXCHANGES; i++) {
          const length = lengths[(i + n) % lengths.length];
          const { answer: got } = await exchange(connection, { path: `/${length}/${letter}` }).ended;
          assert.ok(got?.body.equals(Buffer.alloc(length, letter)), `${letter}, ${length} bytes`);
        }
        await connection.close();
      }),
    );
  });
}
