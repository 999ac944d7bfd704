/** Whole runs of the PKI operations: on the embedded server, and of `ocsp --about` against the responder of OpenSSL. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { PkiLoadError } from '../../src/errors.js';
import { createPlan, readEnvironment, run } from '../../src/index.js';
import { formatCount } from '../../src/units.js';
import { ask } from '../dev/support.js';
import { TestCa } from '../pki/openssl-ca.js';

const EC = 'example-dot-com-ec';
const folder = mkdtempSync(join(tmpdir(), 'vpl-pki-runs-'));
/** @type {import('../../src/dev/server.js').DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

let files = 0;
/** @param {string} content */
function file(content) {
  const path = join(folder, `file${++files}`);
  writeFileSync(path, content);
  return path;
}

/**
 * @param {string} operation
 * @param {Record<string, unknown>} options
 * @param {string} [url] none: the embedded server, with its token
 */
async function measure(operation, options, url = server.url) {
  const load = { concurrency: 2, requests: 40, seed: 1, ...options };
  const plan = await createPlan(operation, { url, ...load }, readEnvironment({}));
  /** @type {string[]} */
  const said = [];
  const result = await run(plan, {
    token: url === server.url ? server.token : null,
    onEvent: (event) => 'text' in event && said.push(event.text),
  });
  const { checked, passed } = result.verification;
  return { ...result, said, notes: result.verification.notes ?? [], allChecked: checked === passed };
}

/** @param {string} path */
const listed = async (path) => (await ask(server, 'LIST', `pki_int/${path}`)).json?.data?.keys ?? [];

/**
 * In front of the embedded server: revokes one more certificate before each time that it passes its CRL on, one after the other, so that no
 * two answers are alike.
 *
 * @param {import('node:test').TestContext} t
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
  });
  await new Promise((resolve) => front.listen(0, '127.0.0.1', () => resolve(null)));
  t.after(() => {
    front.closeAllConnections();
    front.close();
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (front.address());
  return `http://127.0.0.1:${port}`;
}

describe('on the embedded server', () => {
  test('sign and sign-verbatim: each CSR certified, names and all', async () => {
    const common = {
      pool: 4,
      cn: 'host-{n}.example.com',
      altNames: 'alt-{n}.example.com',
      keyType: 'ec-256',
    };
    for (const [operation, options] of /** @type {[string, Record<string, unknown>][]} */ ([
      ['sign', { role: EC }],
      ['sign-verbatim', {}],
      ['sign-verbatim', { cn: 'any name at all', altNames: 'not.allowed.by.a.role' }],
    ])) {
      const { outcomes, allChecked, totals } = await measure(operation, { ...common, ...options });
      assert.deepEqual([outcomes, allChecked, totals.failed], [{ issued: 40 }, true, 0]);
    }
  });

  test('revoke: as many certificates as requests, each revoked once, and nothing else', async () => {
    const before = [await listed('certs/revoked'), await listed('certs')].map((keys) => keys.length);
    const { outcomes, said, notes } = await measure('revoke', { role: EC, threads: 2 });
    assert.deepEqual(outcomes, { revoked: 40 });
    assert.match(said.join(), /Issues 40 certificates with role example-dot-com-ec to revoke/);
    const now = [await listed('certs/revoked'), await listed('certs')].map((keys) => keys.length);
    assert.deepEqual([now[0] - before[0], now[1] - before[1]], [40, 40]);
    assert.deepEqual(notes, []);
  });

  test('revoke: with fewer certificates than requests the rest is said to be about revoked ones', async () => {
    const { outcomes, notes } = await measure('revoke', { role: EC, pool: 15 });
    assert.deepEqual(outcomes, { revoked: 15, revoked_again: 25 });
    assert.match(String(notes), /more requests than certificates/);
  });

  test('revoke: two parts of a plan revoke each of their certificates once', async () => {
    for (const shard of ['0/2', '1/2']) {
      const { outcomes } = await measure('revoke', { role: EC, requests: 31, shard });
      assert.deepEqual(outcomes, { revoked: shard === '0/2' ? 16 : 15 });
    }
  });

  test('in a mix revoke issues as many as it will revoke, and kinds are chosen apart from operations', async () => {
    const environment = readEnvironment({});
    const planOf = (/** @type {string} */ operation, /** @type {Record<string, unknown>} */ given) =>
      createPlan(
        operation,
        { url: server.url, requests: 300, concurrency: 2, seed: 1, ...given },
        environment,
      );
    const revoke = await planOf('revoke', { role: EC });
    const ocsp = await planOf('ocsp', { role: EC, about: 'good=1,revoked=1', pool: 2 });
    const mix = [
      { name: 'ocsp', operation: 'ocsp', weight: 8, options: ocsp.options },
      { name: 'revoke', operation: 'revoke', weight: 2, options: revoke.options },
    ];
    /** @type {string[]} */
    const said = [];
    const { operations } = await run(
      { ...revoke, mix },
      { token: server.token, onEvent: (event) => 'text' in event && said.push(event.text) },
    );
    const { revoked } = operations.revoke.outcomes;
    assert.deepEqual(operations.revoke.outcomes, { revoked });
    assert.match(said.join(), new RegExp(`Issues ${revoked} certificates`));
    const { good, revoked: answered } = operations.ocsp.outcomes;
    assert.equal(good + answered + revoked, 300);
    assert.ok(Math.abs(good - answered) < 3 * Math.sqrt(good + answered), `${good} and ${answered}`);
  });

  test('revoke: a role that does not store', async () => {
    await assert.rejects(
      measure('revoke', { role: 'example-dot-com-ec-no-store' }),
      (error) => error instanceof PkiLoadError && error.code === 'role_does_not_store',
    );
  });

  test('crl: it grows from answer to answer, and one sentence tells the largest that any thread has read', async (t) => {
    const url = await startGrowingCrl(t);
    const { outcomes, notes } = await measure('crl', { threads: 2 }, url);
    assert.deepEqual(outcomes, { crl: 40 });
    assert.equal(notes.length, 1, String(notes));
    const [{ body }, entries] = await Promise.all([
      ask(server, 'GET', 'pki_int/crl'),
      listed('certs/revoked'),
    ]);
    const said = `The largest CRL had ${formatCount(body.length)} bytes, the longest ${formatCount(entries.length)} entries; `;
    assert.ok(String(notes).startsWith(said), String(notes));
  });

  test('crl and ca-chain, without a token', async () => {
    for (const operation of ['crl', 'ca-chain']) {
      const plan = await createPlan(
        operation,
        { url: server.url, requests: 20, concurrency: 2 },
        readEnvironment({}),
      );
      const { outcomes, verification } = await run(plan);
      assert.deepEqual(outcomes, { [operation === 'crl' ? 'crl' : 'chain']: 20 });
      assert.equal(verification.passed, 20);
    }
  });

  test('ocsp --about: all four kinds are issued, revoked or invented, and answered as Vault answers', async () => {
    const [certs, revoked] = [await listed('certs'), await listed('certs/revoked')];
    const about = 'good=4,revoked=2,never-issued=2,wrong-issuer=2';
    const options = { role: EC, about, pool: 3, requests: 400, threads: 2, cn: 'host-{n}.example.com' };
    const { outcomes, allChecked, said, notes, totals, outcomeDetails } = await measure('ocsp', options);
    const names = ['good', 'revoked', 'never_issued_good', 'wrong_issuer_unknown'];
    assert.deepEqual(Object.keys(outcomes).sort(), [...names].sort());
    for (const [i, share] of [0.4, 0.2, 0.2, 0.2].entries()) {
      const off = Math.abs(outcomes[names[i]] - 400 * share);
      assert.ok(off < 3 * Math.sqrt(400 * share * (1 - share)), JSON.stringify(outcomes));
    }
    assert.deepEqual([allChecked, totals.failed], [true, 0]);
    assert.match(said.join(), /Issues with role \S+ 3 to be asked about and 3 to be revoked at once/);
    assert.match(String(notes), /a client has to reject them/);
    assert.equal((await listed('certs')).length - certs.length, 6);
    assert.equal((await listed('certs/revoked')).length - revoked.length, 3);
    for (const [name, count] of Object.entries(outcomes)) {
      assert.equal(outcomeDetails[name].latencyMs.response.count, count);
    }
  });

  test('the same seed asks the same of one kind and of another, whatever the threads', async () => {
    const options = { role: EC, about: 'good=1,never-issued=1', pool: 2, requests: 200 };
    const runs = [
      await measure('ocsp', { ...options, threads: 1 }),
      await measure('ocsp', { ...options, threads: 2 }),
    ];
    assert.deepEqual(runs[0].outcomes, runs[1].outcomes);
    const { outcomes } = await measure('ocsp', { ...options, seed: 2 });
    assert.notDeepEqual(outcomes, runs[0].outcomes);
  });

  test('an answer that is not expected is a failure with an outcome of its own', async () => {
    const about = 'good=1,revoked=1,never-issued=1,wrong-issuer=1';
    const expect = 'good=revoked,revoked=good,never-issued=unknown,wrong-issuer=unauthorized';
    const { outcomes, totals } = await measure('ocsp', {
      role: EC,
      about,
      expect,
      pool: 2,
      nonce: true,
      hash: 'sha256',
    });
    assert.deepEqual(Object.keys(outcomes).sort(), [
      'good_but_good',
      'never_issued_but_good',
      'revoked_but_revoked',
      'wrong_issuer_but_unknown',
    ]);
    assert.equal(totals.failed, 40);
  });

  test('certificates that are not stored can be asked about too; never issued ones need neither role nor token', async () => {
    const about = 'good=1,revoked=1';
    const { outcomes } = await measure('ocsp', { role: 'example-dot-com-ec-no-store', about, pool: 2 });
    assert.deepEqual(Object.keys(outcomes).sort(), ['good', 'revoked']);
    const plan = await createPlan(
      'ocsp',
      {
        url: server.url,
        about: 'never-issued=1,wrong-issuer=1',
        requests: 20,
        concurrency: 2,
        method: 'get',
      },
      readEnvironment({}),
    );
    const { outcomes: invented } = await run(plan);
    assert.deepEqual(Object.keys(invented).sort(), ['never_issued_good', 'wrong_issuer_unknown']);
  });
});

describe('ocsp --about against openssl ocsp, whose index knows what was issued', () => {
  const ca = new TestCa({ name: 'Independent' });
  const stranger = new TestCa({ name: 'Stranger' });
  const good = ca.issue('good');
  const revoked = [ca.issue('revoked', { status: 'R' }), ca.issue('revoked too', { status: 'R' })];
  const revokedSerials = file(revoked.map(({ serialHex }) => `${serialHex}\n`).join(''));
  /** @type {{url: string, stop: () => Promise<void>}} */
  let responder;
  before(async () => {
    responder = await ca.listen();
  });
  after(async () => {
    await responder.stop();
    ca.close();
    stranger.close();
  });

  /** @param {Record<string, unknown>} options */
  const measureThere = (options) => {
    const given = { cert: good.certFile, issuer: ca.ca.certFile, ocspUrl: responder.url, concurrency: 1 };
    return measure('ocsp', { ...given, ...options }, 'http://127.0.0.1:1');
  };
  const about = 'good=1,revoked=1,never-issued=1,wrong-issuer=1';

  test('never issued is unknown there, and so is another issuer, under its own CertID', async () => {
    const expect = 'never-issued=unknown';
    const { outcomes, notes, allChecked } = await measureThere({
      about,
      expect,
      revokedSerials,
      nonce: true,
    });
    assert.deepEqual(Object.keys(outcomes).sort(), [
      'good',
      'never_issued_unknown',
      'revoked',
      'wrong_issuer_unknown',
    ]);
    assert.equal(allChecked, true);
    assert.deepEqual(notes, []);
  });

  test("Vault's answers are contrary to it", async () => {
    const { outcomes, totals } = await measureThere({ about, revokedSerials });
    assert.equal(outcomes.never_issued_but_unknown, totals.failed);
    assert.ok(totals.failed > 0 && totals.succeeded > 0);
  });

  test('revoked serials of another issuer are refused before anything is sent', async () => {
    const other = stranger.issue('other', { status: 'R' });
    const line = JSON.stringify({ serial: other.serialHex, certificate: other.pem });
    await assert.rejects(
      measureThere({ about, revokedSerials: file(`${line}\n`) }),
      (error) => error instanceof PkiLoadError && error.code === 'wrong_issuer',
    );
  });

  test('no such file of revoked serials', async () => {
    await assert.rejects(
      measureThere({ about, revokedSerials: join(folder, 'none') }),
      (error) => error instanceof PkiLoadError && /--revoked-serials .* is not there/.test(error.message),
    );
  });
});
