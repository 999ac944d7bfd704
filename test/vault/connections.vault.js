/** New connections to a real Vault over TLS: requests in its audit log, and TLS handshakes on the wire in front of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { measure } from '../cli/support.js';
import { openAudit } from './audit.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

/** @import { Result } from '../../src/result/schema.js' */
/** @import { RunningVault } from './start.js' */
/** @import { AddressInfo } from 'node:net' */

const [RATE, SECONDS] = [200, 20];
/** Connections of the checks before a run, and of the certificates that it needs. */
const MAX_PREPARATIONS = 3;
/** First byte of a TLS connection: a handshake record. */
const TLS_HANDSHAKE = 0x16;

describe('new connections to Vault over TLS', () => {
  /** @type {RunningVault} */
  let vault;
  /** @type {ReturnType<RunningVault['connect']>} */
  let root;
  /** @type {Awaited<ReturnType<typeof openAudit>>} */
  let audit;
  /** Connections to Vault that began with a TLS handshake. */
  let handshakes = 0;
  const relay = createServer((near) => {
    const far = connect(vault.port, '127.0.0.1').setNoDelay(true);
    near.once('data', ([first]) => {
      if (first === TLS_HANDSHAKE) handshakes++;
    });
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near.setNoDelay(true));
  });
  before(async () => {
    vault = await startVault({ tls: true });
    root = vault.connect();
    await setUpPki(root, { caKeyType: 'ec' });
    audit = await openAudit(vault, root);
    await once(relay.listen(0, '127.0.0.1'), 'listening');
  });
  after(async () => {
    relay.close();
    await root.close();
    await vault.stop();
  });

  /** @param {number} seconds @param {string[]} more @returns {Promise<{result: Result, requests: number, opened: number}>} `opened`: on the wire */
  async function run(seconds, more) {
    const { port } = /** @type {AddressInfo} */ (relay.address());
    const env = {
      ...{ VAULT_ADDR: `https://127.0.0.1:${port}`, VAULT_TOKEN: vault.token },
      ...{ VAULT_CACERT: String(vault.caCert) },
    };
    const args = ['ocsp', '--role', 'ec-stored', '--rate', `${RATE}`, '--duration', `${seconds}s`];
    const mark = audit.mark();
    handshakes = 0;
    const result = await measure([...args, ...more], { env });
    return { result, requests: audit.since(mark, 'pki_int/ocsp').length, opened: handshakes };
  }

  /** @param {Result} result */
  const handshakesOf = ({ measurement }) => Object.entries(measurement.observed?.handshakes ?? {});

  test('a handshake for each request; the phases add up to the response time', async () => {
    const { result, requests, opened } = await run(SECONDS, ['--connections', 'new']);
    const { totals, latencyMs, rates, measurement } = result;
    const all = RATE * SECONDS;
    assert.deepEqual([totals.sent, totals.succeeded, requests], [all, all, all]);
    const preparations = opened - all;
    assert.ok(preparations > 0 && preparations <= MAX_PREPARATIONS, `${opened} handshakes`);
    const [[name, counts], ...others] = handshakesOf(result);
    assert.match(name, /^TLSv1\.3 TLS_\w+ http\/1\.1$/);
    assert.deepEqual([counts, others], [{ count: all, resumed: 0 }, []]);
    // A response after the planned end may lengthen the time that rates cover: until the last success.
    const windowSeconds = all / Number(rates.handshakesPerSecond);
    const mostSeconds = SECONDS + Number(latencyMs.response.max) / 1000;
    assert.ok(windowSeconds > SECONDS - 1e-6 && windowSeconds < mostSeconds + 1e-6, `${windowSeconds} s`);
    assert.ok(!measurement.reasons.some(({ code }) => code === 'connection_setup'));
    const { response, sendLag, connect, tls, firstByte, transfer } = latencyMs;
    const means = [sendLag, connect, tls, firstByte, transfer].map(
      (block) => (Number(block?.mean ?? 0) * (block?.count ?? 0)) / all,
    );
    const sum = means.reduce((a, b) => a + b);
    assert.ok(Math.abs(sum / Number(response.mean) - 1) < 0.01, `${sum} of ${response.mean} ms`);
  });

  test('with resumption, each connection but the first of a slot resumes', async () => {
    const { result } = await run(5, ['--connections', 'new', '--tls-resumption', 'on', '--concurrency', '5']);
    const [[, { count, resumed }]] = handshakesOf(result);
    assert.deepEqual([count, resumed], [RATE * 5, RATE * 5 - 5]);
  });

  test('connections that close after ten requests, from several addresses', async () => {
    const addresses = ['--local-address', '127.0.0.2', '--local-address', '127.0.0.3'];
    const { result, requests } = await run(5, ['--requests-per-connection', '10', ...addresses]);
    const [[, { count }]] = handshakesOf(result);
    assert.deepEqual([result.totals.succeeded, requests], [RATE * 5, RATE * 5]);
    // Each slot takes its share of the requests, and may still be in its last ten.
    assert.ok(count >= RATE / 2 && count <= RATE / 2 + 10, `${count} handshakes`);
  });

  test('HTTP/2: a connection for 10 streams; nothing is lost or sent twice; a new one for each request', async () => {
    const closed = ['ocsp', '--role', 'ec-stored', '--concurrency', '10', '--duration', '3s'];
    const { port } = /** @type {AddressInfo} */ (relay.address());
    const env = {
      ...{ VAULT_ADDR: `https://127.0.0.1:${port}`, VAULT_TOKEN: vault.token },
      ...{ VAULT_CACERT: String(vault.caCert) },
    };
    const mark = audit.mark();
    const result = await measure([...closed, '--http', '2', '--streams', '10'], { env });
    const requests = audit.since(mark, 'pki_int/ocsp').length;
    const { sent, succeeded } = result.totals;
    assert.deepEqual([requests, succeeded], [sent, sent]);
    assert.ok(sent > 100, `${sent} requests`);
    const [[name, { count }]] = handshakesOf(result);
    assert.match(name, /^TLSv1\.3 TLS_\w+ h2$/);
    assert.equal(count, 1);
    const more = ['--http', '2', '--connections', 'new'];
    const { result: each, requests: arrived, opened } = await run(2, more);
    assert.deepEqual([each.totals.succeeded, arrived], [RATE * 2, RATE * 2]);
    assert.equal(handshakesOf(each)[0][1].count, RATE * 2);
    assert.ok(opened <= RATE * 2 + MAX_PREPARATIONS + 1, `${opened} handshakes`);
  });

  test('kept connections are opened once', async () => {
    const { result, opened } = await run(2, []);
    assert.ok(opened > 10 && opened <= 10 + MAX_PREPARATIONS, `${opened} handshakes`);
    assert.equal(handshakesOf(result)[0][1].count, 10);
    assert.equal(result.latencyMs.connect, undefined);
  });
});
