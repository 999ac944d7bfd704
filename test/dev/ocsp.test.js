import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { ask, openssl, scratch } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

const file = scratch({ after });
const NEVER_ISSUED = '0x1122334455667788990011223344556677889900';

/**
 * `openssl ocsp` while the server in this process answers it.
 * @param {...string} args
 * @returns {Promise<string>}
 */
function opensslOcsp(...args) {
  return new Promise((resolve, reject) => {
    const child = spawn('openssl', ['ocsp', ...args]);
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', () => resolve(text));
  });
}

for (const caKeyType of /** @type {const} */ (['rsa', 'ec'])) {
  describe(`OCSP of an ${caKeyType} CA, queried by OpenSSL`, () => {
    /** @type {DevServer} */
    let server;
    /** @type {string[]} */
    let common;
    before(async () => {
      server = await createDevServer({ caKeyType });
      const issuer = file(`${caKeyType}.pem`, server.caPem);
      const trust = ['-CAfile', file(`${caKeyType}-root.pem`, server.rootPem), '-verify_other', issuer];
      common = ['-issuer', issuer, '-url', `${server.url}/v1/pki_int/ocsp`, ...trust];
    });
    after(() => server.close());

    for (const hash of ['-sha1', '-sha256']) {
      it(`${hash}: good, then revoked; verified, nonce echoed`, async () => {
        const body = { common_name: 'localhost', ttl: '1h' };
        const { json } = await ask(server, 'POST', 'pki_int/issue/example-dot-com-ec', body);
        const cert = file('leaf.pem', json.data.certificate);
        const good = await opensslOcsp(hash, ...common, '-cert', cert);
        assert.match(good, /Response verify OK/);
        assert.match(good, /leaf.pem: good/);
        assert.doesNotMatch(good, /WARNING/);
        await ask(server, 'POST', 'pki_int/revoke', { serial_number: json.data.serial_number });
        const revoked = await opensslOcsp(hash, ...common, '-cert', cert, '-no_nonce');
        assert.match(revoked, /Response verify OK/);
        assert.match(revoked, /leaf.pem: revoked[\s\S]*Revocation Time/);
      });
    }

    it('a serial never issued is good for 12 hours; the response identifies the responder by name, without certificates', async () => {
      const text = await opensslOcsp(...common, '-serial', NEVER_ISSUED, '-resp_text');
      assert.match(text, new RegExp(`${NEVER_ISSUED}: good`, 'i'));
      assert.match(text, /Responder Id: CN = vault-pki-load dev intermediate/);
      assert.doesNotMatch(text, /Certificate:\n/);
      const [, from = '', to = ''] = /This Update: (.*)\n\s+Next Update: (.*)\n/.exec(text) ?? [];
      assert.equal(Date.parse(to) - Date.parse(from), 12 * 3_600_000);
    });

    it("an unknown issuer is unknown, with the CertID of the server's own issuer", async () => {
      const root = file('other.pem', server.rootPem);
      const text = await opensslOcsp(...common.slice(2), '-issuer', root, '-serial', '0x77', '-resp_text');
      assert.match(text, /Cert Status: unknown/);
      assert.match(text, /ERROR: No Status found/);
    });
  });
}

describe('OCSP transport', () => {
  /** @type {DevServer} */
  let server;
  /** @type {Buffer} */
  let question;
  before(async () => {
    server = await createDevServer({ caKeyType: 'ec' });
    question = requestOf('-no_nonce');
  });
  after(() => server.close());

  /** @param {...string} args */
  function requestOf(...args) {
    const out = file('request.der', '');
    openssl(
      'ocsp',
      '-issuer',
      file('ca.pem', server.caPem),
      '-serial',
      NEVER_ISSUED,
      ...args,
      '-reqout',
      out,
    );
    return readFileSync(out);
  }

  it('GET with percent-encoded base64 responds like POST, without a token', async () => {
    const anonymous = { url: server.url };
    const path = `pki_int/ocsp/${encodeURIComponent(question.toString('base64'))}`;
    for (const answer of [
      await ask(anonymous, 'GET', path),
      await ask(anonymous, 'POST', 'pki_int/ocsp', question),
    ]) {
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['content-type'], 'application/ocsp-response');
      assert.equal(answer.headers['cache-control'], 'no-store');
      const text = openssl('ocsp', '-respin', file('r.der', answer.body), '-resp_text', '-noverify').text;
      assert.match(text, /Cert Status: good/);
    }
  });

  it('redirects base64 with // that is not percent-encoded', async () => {
    const { status, headers } = await ask(server, 'GET', 'pki_int/ocsp/MFow//Aw');
    assert.equal(status, 307);
    assert.equal(headers.location, '/v1/pki_int/ocsp/MFow/Aw');
  });

  const MALFORMED = '30030a0101';
  const nonce = (/** @type {number} */ length) => {
    const extension = tlv(
      0x30,
      Buffer.from('06092b0601050507300102', 'hex'),
      tlv(4, tlv(4, Buffer.alloc(length))),
    );
    return withExtensions(question, extension);
  };
  for (const [name, body] of /** @type {[string, () => Buffer][]} */ ([
    ['nothing', () => Buffer.alloc(0)],
    ['garbage', () => Buffer.from('garbage')],
    ['trailing bytes', () => Buffer.concat([question, Buffer.alloc(1)])],
    ['2048 bytes', () => Buffer.alloc(2048)],
    ['an empty nonce (RFC 9654)', () => nonce(0)],
    ['a nonce of 129 octets (RFC 9654)', () => nonce(129)],
  ])) {
    it(`${name} is a malformed request, by POST and by GET`, async () => {
      const post = await ask(server, 'POST', 'pki_int/ocsp', body());
      const get = await ask(server, 'GET', `pki_int/ocsp/${encodeURIComponent(body().toString('base64'))}`);
      for (const { status, headers, body: bytes } of [post, get]) {
        assert.equal(status, 400);
        assert.equal(headers['content-type'], 'application/ocsp-response');
        assert.equal(bytes.toString('hex'), MALFORMED);
      }
    });
  }

  it('echoes nonces of 1 and 128 octets', async () => {
    for (const length of [1, 128]) {
      const { status, body } = await ask(server, 'POST', 'pki_int/ocsp', nonce(length));
      assert.equal(status, 200);
      assert.ok(body.includes(tlv(4, tlv(4, Buffer.alloc(length)))));
    }
  });
});

/** @param {number} tag @param {...Buffer} parts contents, below 64 KiB */
function tlv(tag, ...parts) {
  const body = Buffer.concat(parts);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

/**
 * @param {Buffer} request short, without extensions: OCSPRequest { TBSRequest { requestList } }
 * @param {Buffer} extension
 */
function withExtensions(request, extension) {
  return tlv(0x30, tlv(0x30, request.subarray(4), tlv(0xa2, tlv(0x30, extension))));
}
