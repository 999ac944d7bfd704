/** Whole runs of the PKI operations: on the embedded server, and of `ocsp --about` against the responder of OpenSSL. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { formatCount } from '../../src/common/units.js';
import { createDevServer } from '../../src/dev/server.js';
import { createPlan, readEnvironment, run } from '../../src/index.js';
import { ask } from '../dev/support.js';
import { TestCa } from '../pki/openssl-ca.js';

/** @import { DevServer } from '../../src/dev/server.js' */
/** @import { AddressInfo } from 'node:net' */
/** @import { TestContext } from 'node:test' */

const EC = 'example-dot-com-ec';
/** @type {DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());

/**
 * @param {string} operation
 * @param {Record<string, unknown>} options
 * @param {string} [url] none: the embedded server, with its token
 */
async function measure(operation, options, url = server.url) {
  const load = { concurrency: 2, requests: 40, seed: 1, coldStart: true, ...options };
  const plan = await createPlan(operation, { url, ...load }, readEnvironment({}));
  const result = await run(plan, { token: url === server.url ? server.token : null });
  const { checked, passed } = result.verification;
  return { ...result, notes: result.verification.notes ?? [], allChecked: checked === passed };
}

/** @param {string} path */
const listed = async (path) => (await ask(server, 'LIST', `pki_int/${path}`)).json?.data?.keys ?? [];
const counts = async () => [(await listed('certs/revoked')).length, (await listed('certs')).length];

/**
 * In front of the embedded server: revokes one more certificate before each time that it passes its CRL on, one after the
 * other, so that no two answers are alike.
 *
 * @param {TestContext} t
 * @returns {Promise<string>} its address
 */
async function startGrowingCrl(t) {
  const grown = async () => {
    const { json } = await ask(server, 'POST', `pki_int/issue/${EC}`, { common_name: 'localhost' });
    await ask(server, 'POST', 'pki_int/revoke', { serial_number: json.data.serial_number });
    return ask(server, 'GET', 'pki_int/crl');
  };
  /** @type {Promise<unknown>} */
  let before = Promise.resolve();
  const front = createServer(async ({ url, method }, response) => {
    const path = String(url).slice('/v1/'.length);
    const answer = path === 'pki_int/crl' ? before.then(grown) : ask(server, String(method), path);
    before = answer;
    const { status, headers, body } = await answer;
    response.writeHead(status, { 'content-type': String(headers['content-type']) }).end(body);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  t.after(() => front.close().closeAllConnections());
  return `http://127.0.0.1:${/** @type {AddressInfo} */ (front.address()).port}`;
}

describe('on the embedded server', () => {
  test('revoke: one certificate per request, each revoked once by any thread, and nothing else', async () => {
    const [revoked, all] = await counts();
    const { outcomes, notes } = await measure('revoke', { role: EC, threads: 2 });
    assert.deepEqual([outcomes, notes], [{ revoked: 40 }, []]);
    assert.deepEqual(await counts(), [revoked + 40, all + 40]);
    for (const shard of ['0/2', '1/2']) {
      const part = await measure('revoke', { role: EC, requests: 31, shard });
      assert.deepEqual(part.outcomes, { revoked: shard === '0/2' ? 16 : 15 });
    }
  });

  test('revoke: requests beyond the certificates revoke again; a role must store', async () => {
    const { outcomes, notes } = await measure('revoke', { role: EC, pool: 15 });
    assert.deepEqual(outcomes, { revoked: 15, revoked_again: 25 });
    assert.match(String(notes), /more requests than certificates/);
    const role = 'example-dot-com-ec-no-store';
    await assert.rejects(measure('revoke', { role }), { name: 'PkiLoadError', code: 'role_does_not_store' });
  });

  test('crl: it grows during the run, and a note names the largest', async (t) => {
    const { outcomes, notes } = await measure('crl', {}, await startGrowingCrl(t));
    assert.deepEqual(outcomes, { crl: 40 });
    const { body } = await ask(server, 'GET', 'pki_int/crl');
    const [entries] = await counts();
    const start = `The largest CRL had ${formatCount(body.length)} bytes and ${formatCount(entries)} entries; `;
    assert.deepEqual([notes.length, String(notes).slice(0, start.length)], [1, start]);
  });

  test('ocsp --about: kinds by share, the same for a seed with any threads, statuses as in Vault', async () => {
    const [revoked, all] = await counts();
    const about = 'good=4,revoked=2,never-issued=2,wrong-issuer=2';
    const options = { role: EC, about, pool: 3, requests: 400, cn: 'host-{n}.example.com' };
    const { outcomes, allChecked, notes, totals } = await measure('ocsp', { ...options, threads: 2 });
    assert.deepEqual(await counts(), [revoked + 3, all + 6]);
    const names = ['good', 'revoked', 'never_issued_good', 'wrong_issuer_unknown'];
    for (const [i, share] of [0.4, 0.2, 0.2, 0.2].entries()) {
      const off = Math.abs(outcomes[names[i]] - 400 * share);
      assert.ok(off < 3 * Math.sqrt(400 * share * (1 - share)), JSON.stringify(outcomes));
    }
    assert.deepEqual([allChecked, totals.failed], [true, 0]);
    assert.match(String(notes), /a client has to reject them/);
    assert.deepEqual((await measure('ocsp', { ...options, threads: 1 })).outcomes, outcomes);
    assert.notDeepEqual((await measure('ocsp', { ...options, seed: 2 })).outcomes, outcomes);
  });

  test('ocsp: unstored certificates can be queried; unexpected responses fail with their own outcome', async () => {
    const given = {
      role: 'example-dot-com-ec-no-store',
      about: 'good=1,revoked=1,never-issued=1,wrong-issuer=1',
      expect: 'good=revoked,never-issued=unknown,wrong-issuer=unauthorized',
    };
    const { outcomes, totals } = await measure('ocsp', { ...given, pool: 2, nonce: true, hash: 'sha256' });
    const names = ['good_but_good', 'never_issued_but_good', 'revoked', 'wrong_issuer_but_unknown'];
    assert.deepEqual(Object.keys(outcomes).sort(), names);
    assert.equal(totals.failed, 40 - outcomes.revoked);
  });
});

describe('ocsp --about against openssl ocsp, whose index lists the issued certificates', () => {
  const ca = new TestCa({ name: 'Independent' });
  const stranger = new TestCa({ name: 'Stranger' });
  const good = ca.issue('good');
  const revoked = [ca.issue('revoked', { status: 'R' }), ca.issue('revoked too', { status: 'R' })];
  const serials = (/** @type {string} */ text) => {
    const path = ca.path('serials');
    writeFileSync(path, text);
    return path;
  };
  /** @type {{url: string, stop: () => Promise<void>}} */
  let responder;
  before(async () => {
    responder = await ca.listen();
  });
  after(async () => {
    await responder.stop();
    ca.close();
  });

  /** @param {Record<string, unknown>} options */
  const measureThere = (options) => {
    const about = 'good=1,revoked=1,never-issued=1,wrong-issuer=1';
    const given = { cert: good.certFile, issuer: ca.ca.certFile, ocspUrl: responder.url, concurrency: 1 };
    return measure('ocsp', { ...given, about, ...options }, 'http://127.0.0.1:1');
  };

  test('never issued and wrong issuer are unknown there, unlike in Vault', async () => {
    const revokedSerials = serials(revoked.map(({ serialHex }) => `${serialHex}\n`).join(''));
    const right = await measureThere({ expect: 'never-issued=unknown', revokedSerials, nonce: true });
    const names = ['good', 'never_issued_unknown', 'revoked', 'wrong_issuer_unknown'];
    assert.deepEqual(Object.keys(right.outcomes).sort(), names);
    assert.deepEqual([right.allChecked, right.notes], [true, []]);
    const { outcomes, totals } = await measureThere({ revokedSerials });
    assert.equal(outcomes.never_issued_but_unknown, totals.failed);
    assert.ok(totals.failed > 0 && totals.succeeded > 0);
  });

  test('revoked serials of another issuer, or in a bad file, are rejected before anything is sent', async () => {
    const other = stranger.issue('other');
    const revokedSerials = serials(
      `${JSON.stringify({ serial: other.serialHex, certificate: other.pem })}\n`,
    );
    await assert.rejects(measureThere({ revokedSerials }), { name: 'PkiLoadError', code: 'wrong_issuer' });
    await assert.rejects(measureThere({ revokedSerials: ca.path('none') }), {
      name: 'PkiLoadError',
      message: /--revoked-serials .* was not found/,
    });
  });
});
