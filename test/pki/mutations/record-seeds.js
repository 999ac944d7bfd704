/**
 * `node test/pki/mutations/record-seeds.js`: asks the embedded server's responder and openssl for responses of every shape
 * and writes them to seeds.json, with what was asked. They are kept so that a mutant can be made again from its number;
 * keys are not. Needs openssl.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createAuthorities } from '../../../src/dev/authority.js';
import { createResponder } from '../../../src/dev/ocsp-responder.js';
import { Store } from '../../../src/dev/store.js';
import { parseCertificate } from '../../../src/pki/certificate-der.js';
import { createOcspChecker } from '../../../src/pki/ocsp-check.js';
import { buildOcspRequest, createCertId } from '../../../src/pki/ocsp-request.js';
import { buildResponse, der, extension, keyHashResponderId, oid, refusal, single } from '../ocsp-builder.js';
import { TestCa } from '../openssl-ca.js';

const HASHES = /** @type {const} */ (['sha1', 'sha256']);
const NONCE_OID = '1.3.6.1.5.5.7.48.1.2';

/** @type {{name: string, issuer: string, certId: string, nonce: string | null, verdict: string, bytes: string}[]} */
const seeds = [];
const nowMs = Math.floor(Date.now() / 1000) * 1000 + 3000;

/** @param {Uint8Array} bytes */
const base64 = (bytes) => Buffer.from(bytes).toString('base64');

/**
 * @param {string} name
 * @param {Uint8Array} issuerDer
 * @param {{certId: {raw: Uint8Array}, nonce?: Uint8Array | null}} asked
 * @param {Uint8Array} bytes
 */
function keep(name, issuerDer, { certId, nonce = null }, bytes) {
  const verdict = createOcspChecker({ issuerDer }).check(bytes, { certId, nonce, nowMs });
  seeds.push({
    name,
    issuer: base64(issuerDer),
    certId: base64(certId.raw),
    nonce: nonce === null ? null : base64(nonce),
    verdict,
    bytes: base64(bytes),
  });
  process.stdout.write(`${verdict.padEnd(30)} ${String(bytes.length).padStart(5)} ${name}\n`);
}

/** @param {'rsa' | 'ec'} keyType */
async function recordEmbedded(keyType) {
  const { root, intermediate } = await createAuthorities(keyType);
  const store = new Store();
  const revoked = randomBytes(20);
  revoked[0] = 0x4b;
  store.revoke(store.add(revoked, Buffer.alloc(0)));
  const respond = createResponder(intermediate, store);
  const serials = { good: Buffer.from('5f0102030405060708090a0b0c0d0e0f10111213', 'hex'), revoked };
  for (const hash of HASHES) {
    for (const [status, serial] of Object.entries(serials)) {
      for (const nonce of hash === 'sha1' ? [null, randomBytes(32)] : [null]) {
        const certId = await createCertId({ issuerDer: intermediate.der, serial, hash });
        const bytes = await respond(await buildOcspRequest({ certId, nonce }));
        const name = `embedded server, ${keyType}, ${hash}, ${status}${nonce ? ', nonce' : ''}`;
        keep(name, intermediate.der, { certId, nonce }, bytes ?? Buffer.alloc(0));
      }
    }
  }
  const certId = await createCertId({ issuerDer: root.der, serial: revoked, hash: 'sha1' });
  const bytes = await respond(await buildOcspRequest({ certId }));
  keep(
    `embedded server, ${keyType}, of another issuer`,
    intermediate.der,
    { certId },
    bytes ?? Buffer.alloc(0),
  );
}

/** @param {TestCa} ca @param {import('../openssl-ca.js').Issued} leaf @param {'sha1' | 'sha256'} [hash] */
async function ask(ca, leaf, hash = 'sha1') {
  return createCertId({ issuerDer: ca.ca.der, serial: parseCertificate(leaf.der).serial, hash });
}

/** @param {string} key */
async function recordOpenssl(key) {
  const ca = new TestCa({ key });
  try {
    const signing = ['extendedKeyUsage=OCSPSigning'];
    const delegate = ca.issue('delegate', { key, extensions: signing, status: null });
    const leaves = {
      good: ca.issue('good'),
      revoked: ca.issue('revoked', { status: 'R', reason: 'keyCompromise' }),
      unknown: ca.issue('unknown', { status: null }),
    };
    for (const [status, leaf] of Object.entries(leaves)) {
      const certId = await ask(ca, leaf);
      const bytes = ca.respond(await buildOcspRequest({ certId }));
      keep(`openssl, ${key}, ${status}`, ca.ca.der, { certId }, bytes);
    }
    const certId = await ask(ca, leaves.good, 'sha256');
    const nonce = randomBytes(16);
    const request = await buildOcspRequest({ certId, nonce });
    const byKey = ca.respond(request, { signer: delegate, args: ['-resp_key_id', '-nmin', '60'] });
    keep(`openssl, ${key}, delegate by key, nonce`, ca.ca.der, { certId, nonce }, byKey);
    const bare = ca.respond(request, { args: ['-resp_no_certs'] });
    keep(`openssl, ${key}, no certificate, no nextUpdate`, ca.ca.der, { certId, nonce }, bare);
    if (key === 'ec') await recordOdd(ca, delegate, leaves);
  } finally {
    ca.close();
  }
}

/** @param {TestCa} ca @param {string[]} args @param {string} name @param {import('../openssl-ca.js').Issued} leaf */
async function recordAsked(ca, args, name, leaf) {
  keep(
    name,
    ca.ca.der,
    { certId: await ask(ca, leaf) },
    ca.respond(ca.request(leaf, ['-no_nonce', ...args])),
  );
}

/**
 * @param {TestCa} ca
 * @param {import('../openssl-ca.js').Issued} delegate
 * @param {Record<'good' | 'revoked' | 'unknown', import('../openssl-ca.js').Issued>} leaves
 */
async function recordOdd(ca, delegate, leaves) {
  const more = ['-cert', leaves.unknown.certFile, '-cert', leaves.revoked.certFile];
  await recordAsked(ca, more, 'openssl, ec, three answers', leaves.good);
  const [good, revoked] = await Promise.all([ask(ca, leaves.good), ask(ca, leaves.revoked)]);
  const thisUpdate = nowMs - 3000;
  const time = Buffer.from('20260101000000Z');
  const cutoff = extension('1.3.6.1.5.5.7.48.1.6', false, der(0x18, time));
  const singles = [
    single({
      certId: revoked.raw,
      thisUpdate,
      status: der(0xa1, der(0x18, time), der(0xa0, der(0x0a, Buffer.from([1])))),
    }),
    single({ certId: good.raw, thisUpdate, nextUpdate: nowMs + 3_600_000, extensions: [cutoff] }),
  ];
  const nonce = randomBytes(8);
  const extensions = [
    extension(NONCE_OID, true, der(0x04, nonce)),
    extension('1.2.3.4', false, Buffer.from([5, 0])),
  ];
  const made = buildResponse({
    signer: delegate,
    singles,
    extensions,
    certs: [ca.ca.der, delegate.der],
    responderId: keyHashResponderId(delegate),
    producedAt: nowMs,
  });
  keep('made by hand, two answers, extensions, two certificates', ca.ca.der, { certId: good, nonce }, made);
  const late = single({ certId: good.raw, thisUpdate: nowMs - 86_400_000, nextUpdate: nowMs - 3_600_000 });
  const expired = buildResponse({ signer: ca.ca, singles: [late], producedAt: nowMs });
  keep('made by hand, nextUpdate past', ca.ca.der, { certId: good }, expired);
  const type = '1.3.6.1.5.5.7.48.1.99';
  const strange = buildResponse({ signer: ca.ca, singles: [late], producedAt: nowMs, type });
  keep('made by hand, another type', ca.ca.der, { certId: good }, strange);
  const unknown = buildResponse({
    signer: ca.ca,
    singles: [late],
    producedAt: nowMs,
    algorithm: der(0x30, oid('1.2.3.4')),
  });
  keep('made by hand, unknown algorithm', ca.ca.der, { certId: good }, unknown);
  for (const status of [1, 2, 3, 5, 6])
    keep(`refusal ${status}`, ca.ca.der, { certId: good }, refusal(status));
}

for (const key of /** @type {const} */ (['rsa', 'ec'])) await recordEmbedded(key);
for (const key of ['rsa', 'ec', 'rsa-pss', 'ec384', 'ed25519']) await recordOpenssl(key);
writeFileSync(new URL('seeds.json', import.meta.url), `${JSON.stringify({ nowMs, seeds }, null, 2)}\n`);
