import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { test } from 'node:test';
import * as pkijs from 'pkijs';
import { createCsr, KEY_TYPES } from '../../src/pki/csr.js';
import { decodePem } from '../../src/pki/text.js';
import { oid } from './ocsp-builder.js';

/** @import { CsrKeyType } from '../../src/pki/csr.js' */

const NAMES = {
  commonName: 'www.example.com',
  altNames: ['www.example.com', 'bücher.example', 'me@EXAMPLE.com'],
  ipSans: ['10.0.0.1', '2001:db8::1'],
};
/** As pkijs reads it, with the signature verified by Node.js. @param {string} pem */
function read(pem) {
  const der = decodePem(pem, /^CERTIFICATE REQUEST$/) ?? Buffer.alloc(0);
  const csr = pkijs.CertificationRequest.fromBER(der);
  const spki = Buffer.from(csr.subjectPublicKeyInfo.toSchema().toBER());
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const hash = { '1.2.840.113549.1.1.11': 'sha256', '1.2.840.10045.4.3.2': 'sha256' };
  const digest =
    Object(hash)[csr.signatureAlgorithm.algorithmId] ?? (key.asymmetricKeyType === 'ec' ? 'sha384' : null);
  const signature = csr.signatureValue.valueBlock.valueHexView;
  const [extensions] = (csr.attributes ?? []).map(
    ({ values }) => new pkijs.Extensions({ schema: values[0] }),
  );
  const names =
    /** @type {pkijs.AltName | undefined} */ (extensions?.extensions[0].parsedValue)?.altNames ?? [];
  return {
    spki,
    isSigned: verify(digest, csr.tbsView, key, signature),
    commonName: csr.subject.typesAndValues.map(({ value }) => value.valueBlock.value).join(),
    names: names.map(({ type, value }) =>
      type === 7 ? [type, Buffer.from(value.valueBlock.valueHexView).toString('hex')] : [type, value],
    ),
  };
}

// RSA keys of more bits take seconds: openssl.slow.js.
const types = /** @type {CsrKeyType[]} */ (Object.keys(KEY_TYPES));
for (const keyType of types.filter((type) => !/3072|4096/.test(type))) {
  test(`a CSR with a ${keyType} key is signed by it and has its names`, async () => {
    const { pem, spki } = await createCsr({ keyType, ...NAMES });
    assert.deepEqual(read(pem), {
      spki,
      isSigned: true,
      commonName: NAMES.commonName,
      names: [
        [2, 'www.example.com'],
        [2, 'xn--bcher-kva.example'],
        [1, 'me@example.com'],
        [7, '0a000001'],
        [7, '20010db8000000000000000000000001'],
      ],
    });
  });
}

test('a name that is not ASCII is refused: latin1 would turn it into another', async () => {
  for (const name of ['Ł@example.com', 'ü@example.com', 'Ł%.example', 'a\n@example.com'])
    await assert.rejects(createCsr({ keyType: 'ec-256', altNames: ['a.example', name] }), {
      code: 'bad_name',
      message: /^An alternative name is ".*", which is not ASCII/,
    });
});

test('a CSR without names has neither commonName nor alternative names, and is readable', async () => {
  const { pem } = await createCsr({ keyType: 'ec-256' });
  assert.equal(read(pem).commonName, '');
  const bytes = decodePem(pem, /REQUEST/);
  for (const id of ['2.5.4.3', '2.5.29.17', '1.2.840.113549.1.9.14']) assert.ok(!bytes?.includes(oid(id)));
});
