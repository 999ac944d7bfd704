import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_BODY } from '../../src/dev/http.js';
import { createDevServer } from '../../src/dev/server.js';
import { ask } from './support.js';

/** @type {import('../../src/dev/server.js').DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());

const alive = async () => assert.equal((await ask(server, 'GET', 'sys/health')).status, 200);

const PATHS = [
  'pki_int/issue/example-dot-com-ec',
  'pki_int/sign/example-dot-com-ec',
  'pki_int/revoke',
  'pki_int/config/urls',
  'pki_int/ocsp',
  'sys/capabilities-self',
  'auth/token/renew-self',
];
const FIELDS = [
  'common_name',
  'alt_names',
  'ip_sans',
  'ttl',
  'csr',
  'format',
  'serial_number',
  'certificate',
  'paths',
  '__proto__',
];

/** Closes the connection after the answer and says how that began. @param {Uint8Array} bytes */
function sendRaw(bytes) {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
  });
}

describe('no input brings the server down', () => {
  it('any JSON in any field of any write is answered below 500', async () => {
    const body = fc.oneof(fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue()), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), body, async (path, value) => {
        const { status } = await ask(server, 'POST', path, Buffer.from(JSON.stringify(value)));
        assert.ok(status < 500, `${status}`);
      }),
      { numRuns: 200 },
    );
    await alive();
  });

  it('any bytes as a body, on any write', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), fc.uint8Array({ maxLength: 3000 }), async (path, bytes) => {
        const { status } = await ask(server, 'POST', path, bytes);
        // Vault 1.21 too calls an object that it cannot read an internal error.
        const isObject = Buffer.from(bytes).toString().trim().startsWith('{');
        assert.ok(status < 500 || isObject, `${status}`);
      }),
      { numRuns: 200 },
    );
    await alive();
  });

  it('any path, by any method', async () => {
    const method = fc.constantFrom(
      'GET',
      'POST',
      'PUT',
      'LIST',
      'DELETE',
      'HEAD',
      'PATCH',
      'OPTIONS',
      'TRACE',
    );
    const prefix = fc.constantFrom(
      '',
      'pki_int/',
      'pki_int/ocsp/',
      'pki_int/cert/',
      'pki_int/issue/',
      'sys/',
      'auth/token/',
    );
    const tail = fc.oneof(
      fc.webPath(),
      fc.string().map(encodeURIComponent),
      fc.stringMatching(/^[\x21-\x7e]*$/),
    );
    await fc.assert(
      fc.asyncProperty(method, prefix, tail, async (verb, start, rest) => {
        const url = `${start}${rest}`.replaceAll('#', '');
        const line = `${verb} /v1/${url} HTTP/1.1\r\nHost: x\r\nX-Vault-Token: ${server.token}\r\nConnection: close\r\n\r\n`;
        assert.match(await sendRaw(Buffer.from(line, 'latin1')), /^HTTP\/1\.1 [234]\d\d /);
      }),
      { numRuns: 200 },
    );
    await alive();
  });

  it('any bytes instead of HTTP, LIST included', async () => {
    const start = fc.constantFrom(
      '',
      'LIST /v1/pki_int/certs HTTP/1.1\r\n',
      'LIST ',
      'POST /v1/pki_int/ocsp HTTP/1.1\r\n',
    );
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 200 }), async (head, bytes) => {
        await sendRaw(Buffer.concat([Buffer.from(head), bytes]));
      }),
      { numRuns: 200 },
    );
    await alive();
  });

  it('a body beyond the bound is refused with 413', async () => {
    const head = `POST /v1/pki_int/revoke HTTP/1.1\r\nHost: x\r\nContent-Length: ${MAX_BODY + 1}\r\n\r\n`;
    assert.match(
      await sendRaw(Buffer.concat([Buffer.from(head), Buffer.alloc(MAX_BODY + 1)])),
      /^HTTP\/1\.1 413 /,
    );
    await alive();
  });

  it('percent signs that encode nothing, and NUL, are 400', async () => {
    for (const path of ['pki_int/ocsp/%%%', 'pki_int/roles/%zz', 'pki_int/roles/a%00b']) {
      assert.equal((await ask(server, 'GET', path)).status, 400);
    }
  });
});
