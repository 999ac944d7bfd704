/** Handshakes and resumed sessions in a result, compared with the counts of OpenSSL's own server. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { measure } from '../cli/support.js';
import { altNames, TestCa } from '../pki/test-ca.js';

const [REQUESTS, CONCURRENCY] = [60, 3];
/** More than the run opens, so that the server, which ends after its last connection, survives the run. */
const ACCEPTS = REQUESTS + 10;

const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-s-server-'));
after(() => rmSync(folder, { recursive: true }));
const ca = new TestCa();
const server = ca.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
const write = (/** @type {string} */ name, /** @type {string} */ text) =>
  writeFileSync(join(folder, name), text);
write('ca.pem', ca.ca.pem);
write('cert.pem', server.pem);
write('key.pem', server.keyPem);
// s_server -HTTP serves files that contain whole responses.
mkdirSync(join(folder, 'v1', 'sys'), { recursive: true });
const health = JSON.stringify({ initialized: true, sealed: false, standby: false, version: '1.0.0' });
write('v1/sys/health', `HTTP/1.1 200 OK\r\nContent-Length: ${health.length}\r\n\r\n${health}`);

/** @param {string} version option of s_server */
async function startServer(version) {
  const options = ['-cert', 'cert.pem', '-key', 'key.pem', '-HTTP', '-naccept', `${ACCEPTS}`, `-${version}`];
  const child = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const ended = once(child, 'close');
  const port = () => /ACCEPT .*:(\d+)/.exec(output)?.[1];
  while (port() === undefined)
    await Promise.race([once(child.stdout, 'data'), ended.then(() => assert.fail('ended'))]);
  return {
    port: Number(port()),
    /** Uses up its connections. @returns its counts: of connections without these, and of resumed sessions */
    async end() {
      let others = 0;
      while (await askOnce(Number(port()))) others++;
      await ended;
      const count = (/** @type {string} */ name) => Number(new RegExp(`(\\d+) ${name}\\n`).exec(output)?.[1]);
      assert.equal(count('server accepts that finished'), ACCEPTS);
      return { accepts: ACCEPTS - others, resumed: count('session cache hits') };
    },
  };
}

/** @param {number} port @returns {Promise<boolean>} it listens */
function askOnce(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', ca: ca.ca.pem });
    socket.on('error', () => resolve(false)).on('close', () => resolve(true));
    socket.resume().write('GET /v1/sys/health HTTP/1.1\r\n\r\n');
  });
}

describe('the resumed share is what openssl s_server counts:', () => {
  for (const version of ['tls1_2', 'tls1_3']) {
    for (const resumption of ['off', 'on']) {
      test(`${version}, --tls-resumption ${resumption}`, async () => {
        const { port, end } = await startServer(version);
        const load = ['--connections', 'new', '--requests', `${REQUESTS}`, '--concurrency', `${CONCURRENCY}`];
        const { totals, rates, durationSeconds, latencyMs, measurement } = await measure(
          ['http', '--token', 'none', ...load, '--tls-resumption', resumption],
          { env: { VAULT_ADDR: `https://127.0.0.1:${port}`, VAULT_CACERT: join(folder, 'ca.pem') } },
        );
        const counted = await end();
        assert.equal(totals.succeeded, REQUESTS);
        const [[name, { count, resumed }]] = Object.entries(measurement.observed?.handshakes ?? {});
        assert.match(name, version === 'tls1_2' ? /^TLSv1\.2 / : /^TLSv1\.3 /);
        // The health check before the run has a connection of its own.
        assert.deepEqual({ accepts: count + 1, resumed }, counted);
        assert.equal(resumed, resumption === 'on' ? REQUESTS - CONCURRENCY : 0);
        assert.equal(latencyMs.tls?.count, REQUESTS);
        assert.ok(Number(rates.handshakesPerSecond) >= (REQUESTS / durationSeconds) * (1 - 1e-9));
      });
    }
  }
});
