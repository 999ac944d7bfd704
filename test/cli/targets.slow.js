/** Targets that cannot be used: one line with the remedy, exit code 2, before anything is sent under load. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { TestCa } from '../pki/openssl-ca.js';
import { startTarget } from '../targets/start.js';
import { assertRefused, EC, environmentOf, measure, scratch, startBatch } from './support.js';

/** @import { SpawnedDevServer } from '../../src/dev/spawn.js' */
/** @import { AddressInfo } from 'node:net' */

const run = startBatch({ after });
/** @type {Record<string, string>} what `@name` stands for */
const names = {};
/** @type {(() => unknown)[]} */
const cleanups = [];
/** @type {SpawnedDevServer} */
let plain;
/** @type {SpawnedDevServer} */
let secure;

before(async () => {
  [plain, secure] = await Promise.all([
    startDevServer({ caKeyType: 'ec' }),
    startDevServer({ caKeyType: 'ec', tls: true }),
  ]);
  cleanups.push(plain.stop, secure.stop);
  const ca = new TestCa();
  cleanups.push(() => ca.close());
  const path = scratch({ after: (fn) => cleanups.push(fn) });
  const html = await startTarget({ behaviour: 'not-json' });
  const json = await startTarget({ behaviour: 'ok', body: '{"ok":true}' });
  const mute = await startTarget({ behaviour: 'close-before-answer' });
  const garbage = await startTarget({ behaviour: 'garbage' });
  const loop = await startTarget({ behaviour: 'redirect-self' });
  const silent = await startTarget({ behaviour: 'silent' });
  for (const target of [html, json, mute, garbage, loop, silent]) cleanups.push(target.stop);
  Object.assign(names, {
    html: html.url,
    json: json.url,
    mute: mute.url,
    garbage: garbage.url,
    loop: loop.url,
    silent: silent.url,
    plain: plain.url,
    secure: secure.url,
    httpsToPlain: plain.url.replace('http:', 'https:'),
    httpToSecure: secure.url.replace('https:', 'http:'),
    nobody: await unusedAddress(),
    leaf: ca.issue('leaf').certFile,
    issuer: ca.ca.certFile,
    root: path('root.pem', secure.rootPem),
  });
});
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

/** @returns {Promise<string>} */
function unusedAddress() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {AddressInfo} */ (server.address());
      server.close(() => resolve(`http://127.0.0.1:${port}`));
    });
  });
}

const words = (/** @type {string} */ line) =>
  line.split(' ').map((word) => (word.startsWith('@') ? names[word.slice(1)] : word));

/** @type {[string, RegExp][]} for both commands */
const BOTH = [
  ['--url @html', /is not a Vault or OpenBao server: it responds with HTTP 200 and no JSON to \/v1/],
  ['--url @json', /is not a Vault or OpenBao server: it responds with HTTP 200 and unexpected JSON/],
  ['--url @mute', /closed the connection without a response/],
  ['--url @garbage', /sent a response that is not HTTP/],
  ['--url @loop', /is not a Vault|redirects/],
  [
    '--url @silent --timeout 1s',
    /accepted the connection but sent no full response in time.*raise --timeout/,
  ],
  ['--url @nobody', /refused the connection: nothing is listening there\. Start the server, or correct/],
  ['--url http://no-such-host.invalid', /cannot be found: no address for this host name/],
  ['--url @httpsToPlain', /does not speak TLS on this port, but probably plain HTTP\. Use http:\/\//],
  [
    '--url @httpToSecure',
    /closed the connection without a response\. Check http:\/\/ or https:\/\/ in --url/,
  ],
  [
    '--url @secure',
    /presented (?:only its own|a self-signed) certificate.*Set --ca-cert .* to its (?:root )?CA/,
  ],
  [
    '--url @secure --ca-cert @issuer',
    /presented (?:only its own|a self-signed) certificate.*Set --ca-cert .* to its (?:root )?CA/,
  ],
  [
    '--url @secure --ca-cert @root --tls-server-name other.test',
    /certificate that does not match the name in the address/,
  ],
];

for (const command of ['issue', 'ocsp']) {
  describe(`${command} rejects:`, () => {
    for (const [line, message] of BOTH) {
      test(line, async () => {
        const env = environmentOf(plain);
        assertRefused(await run([command, ...words(line)], { env }), message, 2);
      });
    }

    test('nothing if TLS is correct', async () => {
      const args = [command, ...EC, '--requests', '3', '--ca-cert', names.root];
      assert.equal((await measure(args, { env: environmentOf(secure) })).totals.succeeded, 3);
    });
  });
}

/** @type {[string, RegExp][]} */
const RESPONDERS = [
  ['@html', /responded to an OCSP request with HTTP 200 and no OCSP response/],
  ['@json', /responded to an OCSP request with HTTP 200 and no OCSP response/],
  ['@plain', /responded to an OCSP request with HTTP 404 and no OCSP response/],
  ['@loop', /responded to an OCSP request with HTTP 307 and no OCSP response/],
  ['@mute', /closed the connection without a response/],
  ['@garbage', /sent a response that is not HTTP/],
  ['@nobody', /refused the connection: nothing is listening there/],
  ['@httpToSecure', /closed the connection without a response\. Check http:\/\/ or https:\/\/ in --ocsp-url/],
  ['@httpsToPlain', /does not speak TLS on this port, but probably plain HTTP/],
  ['http://no-such-host.invalid', /cannot be found: no address for this host name/],
];

describe('rejects a target that is not an OCSP responder:', () => {
  for (const [url, message] of RESPONDERS) {
    for (const method of ['post', 'get']) {
      test(`${url} by ${method}`, async () => {
        const line = `ocsp --cert @leaf --issuer @issuer --ocsp-url ${url} --method ${method}`;
        assertRefused(await run(words(line)), message, 2);
      });
    }
  }
});
