import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import {
  EXPECTED_STATUSES,
  KINDS,
  outcomeOf,
  readKinds,
  verdictsOf,
} from '../../src/operations/ocsp-kinds.js';
import { createRequestSet, openRequestSet } from '../../src/operations/ocsp-requests.js';
import { REFUSAL_OUTCOMES } from '../../src/operations/outcomes.js';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { OCSP_OUTCOMES } from '../../src/pki/ocsp-check.js';
import { parseCertId } from '../../src/pki/ocsp-response.js';
import { parseSerial } from '../../src/pki/text.js';
import { buildResponse, bytesOf, der, refusal, single } from '../pki/ocsp-builder.js';
import { TestCa } from '../pki/test-ca.js';
import { assertUsage, planOf as planFor } from './calls-support.js';

/** @import { KindName } from '../../src/operations/ocsp-kinds.js' */
/** @import { Issued } from '../pki/test-ca.js' */

const ocsp = await loadOperation('ocsp');
const [ca, stranger] = [new TestCa(), new TestCa({ name: 'Stranger' })];
const NAMES = /** @type {KindName[]} */ (Object.keys(KINDS));
const ALL = 'good=90,revoked=5,never-issued=3,wrong-issuer=2';

/** @param {Record<string, unknown>} given */
const planOf = (given) => planFor(ocsp, given);

describe('--about and --expect', () => {
  test('each kind has a weight and an expected status, by default that of Vault', () => {
    const rows = [
      ['', '', ',1,good'],
      ['', 'revoked', ',1,revoked'],
      ['', 'unauthorized', ',1,unauthorized'],
      [ALL, '', 'good,90,good revoked,5,revoked never-issued,3,good wrong-issuer,2,unknown'],
      [' revoked = 0.5 ', '', 'revoked,0.5,revoked'],
      [
        'never-issued=1,wrong-issuer=1',
        'wrong-issuer=unauthorized,never-issued=unknown',
        'never-issued,1,unknown wrong-issuer,1,unauthorized',
      ],
    ];
    const list = (/** @type {string} */ text) => (text === '' ? [] : text.split(','));
    for (const [about, expect, kinds] of rows) {
      const read = readKinds(list(about), list(expect));
      assert.equal(
        read.map(({ name, weight, expect: answer }) => `${name ?? ''},${weight},${answer}`).join(' '),
        kinds,
      );
    }
  });

  /** @type {[Record<string, unknown>, RegExp][]} options, message and remedy */
  const BAD = [
    [{ about: 'good' }, /--about is "good", which is not KIND=VALUE\. Write it as good=90/],
    [{ about: '=1' }, /"=1", whose kind is not one of/],
    [{ about: 'bad=1' }, /"bad=1", whose kind is not one of good, revoked, never-issued, wrong-issuer/],
    [{ about: 'good=1,good=2' }, /--about is "good=2", but names good twice/],
    [{ about: 'good=0' }, /"good=0", which is not a kind with a weight above zero.*leave the kind out/],
    [{ about: 'good=many' }, /not a kind with a weight above zero/],
    [{ about: 'good=1e99' }, /not a kind with a weight above zero/],
    [{ about: 'good=1', expect: 'good' }, /--expect is "good", which is not KIND=VALUE.*name the kind/],
    [{ about: 'good=1', expect: 'revoked=revoked' }, /"revoked=revoked", whose kind is not one of good\./],
    [
      { about: 'good=1', expect: 'good=fine' },
      /"good=fine", which is not an OCSP status.*It can be good, revoked, unknown, unauthorized/,
    ],
    [
      { about: 'good=1', expect: 'good=good,good=revoked' },
      /--expect is "good=revoked", but names good twice/,
    ],
    [{ expect: 'fine' }, /"fine", which is not an OCSP status/],
    [{ expect: 'never-issued=unknown' }, /but --about is not given.*Add --about/],
    [{ expect: 'good,revoked' }, /but --about is not given/],
    [
      { about: 'revoked=1', cert: 'a' },
      /with --cert the run issues none, and those in the file count as good.*--revoked-serials/,
    ],
    [{ about: 'revoked=1', serials: 'a', issuer: 'b' }, /with --serials the run issues none/],
    [{ revokedSerials: 'a' }, /--about does not include revoked certificates\. Add --about revoked=WEIGHT/],
    [{ issuer: 'a' }, /--issuer is given, but the certificates to query are issued/],
    [{ issuer: 'a', about: 'good=1' }, /--issuer is given, but the certificates to query are issued/],
    [{ pool: 5 }, /--pool is given, but the run issues no good or revoked certificates/],
    [{ pool: 5, about: 'good=1', cert: 'a' }, /--pool is given/],
  ];
  for (const [given, message] of BAD) {
    test(`rejected: ${JSON.stringify(given)}`, () => assertUsage(() => planOf(given), message));
  }

  test('valid combinations are accepted', () => {
    for (const given of [
      { about: ALL },
      { about: ALL, pool: 3, ocspUrl: 'http://127.0.0.1:1' },
      { about: ALL, cert: 'a', issuer: 'b', revokedSerials: 'c' },
      { about: 'never-issued=1,wrong-issuer=1', issuer: 'b' },
      { about: 'revoked=1', revokedSerials: 'c', issuer: 'b' },
      { about: 'good=1,revoked=1', revokedSerials: 'c', pool: 3 },
    ]) {
      planOf(given);
    }
  });
});

const leaf = ca.issue('leaf');
const revoked = ca.issue('revoked', { status: 'R' });
const STATUS = {
  good: bytesOf('8000'),
  revoked: der(0xa1, der(0x18, Buffer.from('20260101000000Z'))),
  unknown: bytesOf('8200'),
};

/** @param {KindName[]} names @param {string[]} [expect] @param {{nonce?: boolean}} [options] */
async function open(names, expect = [], { nonce = false } = {}) {
  const kinds = readKinds(
    names.map((name) => `${name}=1`),
    expect,
  );
  const issuerDer = new Uint8Array(ca.ca.der);
  const serials = [parseSerial(leaf.serialHex)];
  const fixture = {
    origin: 'http://a',
    path: '/ocsp',
    method: 'post',
    issuerDer,
    headers: {},
    kinds: await Promise.all(
      kinds.map(async (kind) => ({
        ...kind,
        requests: createRequestSet({
          issuerDer,
          serials:
            kind.name === 'never-issued'
              ? []
              : kind.name === 'revoked'
                ? [parseSerial(revoked.serialHex)]
                : serials,
          order: kind.name === 'never-issued' ? new Uint32Array() : Uint32Array.of(0),
          hash: 'sha1',
          nonce,
          otherIssuer: kind.name === 'wrong-issuer',
        }),
      })),
    ),
  };
  const plan = planOf({ about: names.map((name) => `${name}=1`) });
  return {
    classify: ocsp.createClassifier(plan, fixture),
    request: ocsp.createRequester(plan, fixture),
    sets: fixture.kinds.map(({ requests }) => openRequestSet(requests, plan.load.seed)),
  };
}

/** @param {Uint8Array} certId @param {keyof typeof STATUS} status @param {{thisUpdate?: number, signer?: Issued}} [how] */
const answer = (certId, status, { thisUpdate = Date.now(), signer = ca.ca } = {}) =>
  buildResponse({ signer, singles: [single({ certId, thisUpdate, status: STATUS[status] })] });

describe('responses to each kind', () => {
  const STATUSES = /** @type {(keyof typeof STATUS)[]} */ (Object.keys(STATUS));

  test('the expected status is a success of the kind, any other a failure of the kind', async () => {
    for (const name of NAMES) {
      for (const expect of EXPECTED_STATUSES) {
        const { classify, sets } = await open([name], [`${name}=${expect}`]);
        for (const status of STATUSES) {
          const body = answer(sets[0].expectation(4).certId.raw, status);
          const verdict = classify(200, body, 4);
          const own = name.replace('-', '_');
          const outcome =
            status === expect ? (name === status ? name : `${own}_${status}`) : `${own}_but_${status}`;
          const success = status === expect;
          assert.deepEqual(verdict, { outcome, success, verification: success ? 'passed' : 'failed' });
        }
        const refused = classify(401, refusal(6), 4);
        assert.deepEqual(
          [refused.outcome, refused.success],
          expect === 'unauthorized'
            ? [`${name.replace('-', '_')}_unauthorized`, true]
            : ['ocsp_unauthorized', false],
        );
      }
    }
  });

  test("wrong issuer: only unknown under the CA's own CertID passes, with a note", async () => {
    const { classify, sets } = await open(['wrong-issuer'], [], { nonce: true });
    const { certId, ownCertId } = sets[0].expectation(0);
    const own = Buffer.from(/** @type {{raw: Buffer}} */ (ownCertId).raw);
    assert.ok(parseCertId(own).serial.length > 0 && !own.equals(certId.raw));
    assert.equal(classify(200, answer(certId.raw, 'unknown'), 0).outcome, 'wrong_issuer_unknown');
    assert.deepEqual(classify.notes?.(), []);
    /** @type {[string, Buffer, string][]} */
    const rows = [
      ['good', answer(own, 'good'), 'cert_id_mismatch'],
      ['revoked', answer(own, 'revoked'), 'cert_id_mismatch'],
      ['a stranger', answer(own, 'unknown', { signer: stranger.ca }), 'responder_not_authorized'],
      ['too early', answer(own, 'unknown', { thisUpdate: Date.now() + 60_000 }), 'not_yet_valid'],
      ['another serial', answer(Buffer.from(own).fill(1, own.length - 2), 'unknown'), 'cert_id_mismatch'],
    ];
    for (const [sentence, body, outcome] of rows) {
      assert.equal(classify(200, body, 0).outcome, outcome, sentence);
    }
    assert.deepEqual(classify.notes?.(), []);
    assert.deepEqual(classify(200, answer(own, 'unknown'), 0), {
      outcome: 'wrong_issuer_unknown',
      success: true,
      verification: 'passed',
    });
    assert.match(String(classify.notes?.()), /a client has to reject them \(RFC 6960, 3\.2\)/);
  });

  test('known issuer: another CertID is a mismatch, even with unknown', async () => {
    for (const name of NAMES.filter((one) => one !== 'wrong-issuer')) {
      const { classify } = await open([name]);
      const other = await open(['wrong-issuer']);
      const body = answer(other.sets[0].expectation(0).certId.raw, 'unknown');
      assert.equal(classify(200, body, 0).outcome, 'cert_id_mismatch');
    }
  });

  test('each declared outcome can occur, and no other', () => {
    const kinds = [...NAMES, null].flatMap((name) =>
      EXPECTED_STATUSES.map((expect) => ({ name, weight: 1, expect })),
    );
    const declared = kinds.flatMap((kind) => Object.values(verdictsOf(kind)).map(({ outcome }) => outcome));
    const seen = new Set([...declared, ...Object.keys(REFUSAL_OUTCOMES)]);
    assert.deepEqual([...seen].sort(), Object.keys(ocsp.outcomes).sort());
  });

  test('no outcome is a success of one kind and a failure of another', () => {
    /** @type {Map<string, boolean>} */
    const known = new Map();
    for (const name of NAMES) {
      for (const { outcome, success } of Object.values(
        verdictsOf({ name, weight: 1, expect: KINDS[name].expect }),
      )) {
        assert.equal(known.get(outcome) ?? success, success, outcome);
        known.set(outcome, success);
      }
    }
    assert.equal(outcomeOf('revoked', 'good', false), 'revoked_but_good');
    assert.equal(Object.keys(OCSP_OUTCOMES).includes('ocsp_unauthorized'), true);
  });
});

describe('requests of each kind', () => {
  const { serial } = parseCertificate(leaf.der);

  test('never-issued serials: positive, minimally encoded, 20 octets, unique, from the seed', async () => {
    const [{ sets }, again] = [await open(['never-issued']), await open(['never-issued'])];
    const seen = new Set();
    for (let index = 0; index < 1000; index++) {
      const { serial: invented } = parseCertId(Buffer.from(sets[0].expectation(index).certId.raw));
      assert.equal(invented.length, 20);
      assert.ok(invented[0] > 0 && invented[0] < 0x80);
      seen.add(Buffer.from(invented).toString('hex'));
      assert.ok(again.sets[0].request(index).equals(sets[0].request(index)));
      assert.ok(sets[0].request(index).includes(Buffer.from(invented)));
    }
    assert.equal(seen.size, 1000);
    assert.equal(sets[0].constant, false);
  });

  test('wrong issuer: a known serial under unknown hashes', async () => {
    for (const nonce of [false, true]) {
      const { request, sets } = await open(['wrong-issuer'], [], { nonce });
      const { certId, ownCertId } = sets[0].expectation(3);
      const [asked, own] = [certId, ownCertId].map((one) =>
        parseCertId(Buffer.from(/** @type {any} */ (one).raw)),
      );
      assert.ok(Buffer.from(asked.serial).equals(serial) && Buffer.from(own.serial).equals(serial));
      assert.notDeepEqual(asked.issuerNameHash, own.issuerNameHash);
      assert.notDeepEqual(asked.issuerKeyHash, own.issuerKeyHash);
      assert.ok(Buffer.from(/** @type {Uint8Array} */ (request(3).body)).includes(asked.raw));
    }
  });

  test('shares match the weights within 3 sigma, by seed and index alone; requester and classifier agree', async () => {
    const { request, classify, sets } = await open(NAMES);
    const counts = NAMES.map(() => 0);
    const N = 4000;
    const kindOf = (/** @type {number} */ index) => {
      const body = Buffer.from(/** @type {Uint8Array} */ (request(index).body));
      return sets.findIndex((set) => body.equals(set.request(index)));
    };
    for (let index = 0; index < N; index++) counts[kindOf(index)]++;
    for (const count of counts)
      assert.ok(Math.abs(count - N / 4) < 3 * Math.sqrt((N * 3) / 16), String(counts));
    const expected = ['good', 'revoked', 'never_issued_good', 'wrong_issuer_unknown'];
    const right = /** @type {const} */ (['good', 'revoked', 'good', 'unknown']);
    for (const index of [0, 1, 2, 3, 17, 4_000_000_001, 4_000_000_002]) {
      const kind = kindOf(index);
      const body = answer(sets[kind].expectation(index).certId.raw, right[kind]);
      assert.equal(classify(200, body, index).outcome, expected[kind]);
    }
  });
});
