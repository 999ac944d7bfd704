/** The syntax of an OCSP response by the grammar: RFC 6960 section 4.2.1 with what RFC 5280 section 4 lends it. */
import {
  any,
  atMost,
  Breach,
  bitString,
  boolean,
  choice,
  decode,
  demand,
  enumerated,
  explicit,
  generalizedTime,
  implicitNull,
  implicitSequence,
  integer,
  listOf,
  namedBits,
  octetString,
  oid,
  optional,
  sequence,
  someOf,
  utcTime,
} from './grammar.js';

/** @import { Element, Field } from './grammar.js' */

const NONCE = '2b0601050507300102';
/** Nonce, CRL references, archive cutoff, extended revoked, reason code, invalidity date: contents of their OIDs. */
const UNDERSTOOD = new Set([
  NONCE,
  '2b0601050507300103',
  '2b0601050507300106',
  '2b0601050507300109',
  '551d15',
  '551d18',
]);
const BASIC = '2b0601050507300101';

const algorithm = sequence(oid, optional(any));

const certId = sequence(algorithm, octetString(), octetString(), integer());

const time = choice(utcTime, generalizedTime);

const name = listOf(someOf(sequence(oid, any), 0x31));

const extension = sequence(oid, optional(boolean), octetString());

/** @param {Element[]} extensions each of sound syntax */
function demandEachOnce(extensions) {
  const oids = extensions.map(({ children }) => children[0].content.toString('hex'));
  demand(new Set(oids).size === oids.length, 'extension twice');
  return oids;
}

/** @type {Field} Extensions of a message, none too, as Go sends them: those that a client must understand, and the nonce's own syntax */
const messageExtensions = after(listOf(extension), ({ children }) => {
  demandEachOnce(children).forEach((id, i) => {
    const [, ...rest] = children[i].children;
    const critical = rest.length === 2 && rest[0].content[0] === 0xff;
    demand(!critical || UNDERSTOOD.has(id), 'unknown critical extension');
    if (id !== NONCE) return;
    const inner = decode(rest[rest.length - 1].content);
    demand(inner.length === 1 && inner[0].tag === 0x04, 'nonce not one OCTET STRING');
  });
});

const revokedInfo = [generalizedTime, optional(explicit(0, enumerated(atMost(127, 'no CRLReason'))))];

const singleResponse = sequence(
  certId,
  choice(implicitNull(0), implicitSequence(1, ...revokedInfo), implicitNull(2)),
  generalizedTime,
  optional(explicit(0, generalizedTime)),
  optional(explicit(1, messageExtensions)),
);

const responseData = sequence(
  optional(explicit(0, integer(atMost(0, 'version not v1')))),
  choice(explicit(1, name), explicit(2, octetString())),
  generalizedTime,
  listOf(singleResponse),
  optional(explicit(1, messageExtensions)),
);

const [RSA, PSS, EC] = ['2a864886f70d010101', '2a864886f70d01010a', '2a8648ce3d0201'];
const positive = integer((value) => demand(value[0] < 0x80, 'negative number in a key'));
const rsaKey = after(sequence(positive, positive), ({ children: [, { content }] }) => {
  const exponent = BigInt(`0x${content.toString('hex')}`);
  demand(exponent >= 3n && exponent % 2n === 1n, 'RSA exponent');
});

const publicKey = after(sequence(algorithm, bitString), ({ children: [{ children }, { content }] }) => {
  const [id, parameters] = children;
  const kind = id.content.toString('hex');
  const key = content.subarray(1);
  demand(kind !== RSA || parameters?.tag === 0x05, 'RSA without NULL');
  demand(kind !== EC || parameters?.tag === 0x06, 'EC without a named curve');
  demand(kind !== EC || (key[0] >= 2 && key[0] <= 4), 'form of an EC point');
  if (kind === RSA || kind === PSS) demandOne(key, rsaKey);
});

/** @type {(tag: number, type: (element: Element) => void) => Field} */
const fieldWith = (tag, type) => ({ tags: [tag], type, optional: false });
const fieldsOfAny = fieldWith(0x30, (element) => {
  demand(element.children.length > 0, 'list without elements');
  any.type(element);
});
const natural = integer((value) => demand(value[0] < 0x80, 'negative number'));
const reason = (/** @type {Buffer} */ value) =>
  demand(value.length === 1 && value[0] <= 10 && ![7, 8].includes(value[0]), 'no reason of a complete CRL');

/** Values of extensions by the contents of their OIDs (RFC 5280 section 4.2). @type {Record<string, Field>} */
const VALUES = {
  ...Object.fromEntries([17, 18, 30, 31, 32, 33, 36, 46].map((n) => [`551d${n.toString(16)}`, fieldsOfAny])),
  '2b06010505070101': fieldsOfAny,
  '551d0e': octetString(),
  '551d13': sequence(
    optional(boolean),
    optional(integer((value) => demand(value[0] < 0x80, 'negative path length'))),
  ),
  '551d0f': after(namedBits, ({ content: [, ...octets] }) =>
    demand(
      octets.some((octet) => octet > 0),
      'key usage without a bit',
    ),
  ),
  '551d23': sequence(...[0x80, 0xa1, 0x82].map((tag) => optional(fieldWith(tag, any.type)))),
  '551d25': someOf(oid),
  '551d36': natural,
  '551d14': natural,
  '551d15': enumerated(reason),
  '551d18': generalizedTime,
  '2b0601050507300105': any,
};

/** @param {Element[]} extensions */
function demandValues(extensions) {
  demandEachOnce(extensions).forEach((id, i) => {
    const field = VALUES[id];
    if (field === undefined) return;
    const { content } = /** @type {Element} */ (extensions[i].children.at(-1));
    // id-pkix-ocsp-nocheck, which some CAs leave empty.
    if (field === any && content.length === 0) return;
    const inner = decode(content);
    demand(
      inner.length === 1 && (field === any || field.tags.includes(inner[0].tag)),
      'value of another type',
    );
    field.type(inner[0]);
  });
}

const tbsCertificate = sequence(
  optional(explicit(0, integer(atMost(2, 'no version of certificates')))),
  integer(),
  algorithm,
  name,
  sequence(time, time),
  name,
  publicKey,
  optional(fieldWith(0x81, namedBits.type)),
  optional(fieldWith(0x82, namedBits.type)),
  optional(
    explicit(
      3,
      after(someOf(extension), ({ children }) => demandValues(children)),
    ),
  ),
);

const certificate = after(sequence(tbsCertificate, algorithm, bitString), ({ children: [tbs, outer] }) => {
  const isV3 = tbs.children[0].tag === 0xa0 && tbs.children[0].children[0].content[0] === 2;
  demand(isV3 || tbs.children.at(-1)?.tag !== 0xa3, 'extensions without version 3');
  const inner = tbs.children[tbs.children[0].tag === 0xa0 ? 2 : 1];
  demand(inner.content.equals(outer.content), 'algorithms of a certificate differ');
});

/** RFC 5280 section 5.1: extensions, of the list and of entries, are for version 2 only. */
const someExtensions = after(someOf(extension), ({ children }) => demandValues(children));
const entry = sequence(integer(), time, optional(someExtensions));
const tbsCertList = after(
  sequence(
    optional(integer((value) => demand(value.length === 1 && value[0] === 1, 'no version of CRLs'))),
    algorithm,
    name,
    time,
    optional(time),
    optional(listOf(entry)),
    optional(explicit(0, someExtensions)),
  ),
  ({ children }) => {
    const isV2 = children[0].tag === 0x02;
    const entries = children.slice(isV2 ? 3 : 2).find(({ tag }) => tag === 0x30)?.children ?? [];
    const last = children[children.length - 1];
    const isExtended = last.tag === 0xa0 || entries.some((one) => one.children.length > 2);
    demand(isV2 || !isExtended, 'extensions in version 1');
  },
);

const crl = after(sequence(tbsCertList, algorithm, bitString), ({ children: [tbs, outer] }) => {
  const inner = tbs.children[tbs.children[0].tag === 0x02 ? 1 : 0];
  demand(inner.content.equals(outer.content), 'algorithms of a CRL differ');
});

const basicResponse = sequence(
  responseData,
  algorithm,
  bitString,
  optional(explicit(0, listOf(certificate))),
);

const response = sequence(
  enumerated(atMost(127, 'no status')),
  optional(explicit(0, sequence(oid, octetString()))),
);

/** @param {Field} first @param {(element: Element) => void} type @returns {Field} one type, then more of it */
function after({ tags, type: before }, type) {
  return {
    tags,
    optional: false,
    type: (element) => {
      before(element);
      type(element);
    },
  };
}

/** @param {Buffer} bytes @param {Field} type */
function demandOne(bytes, { tags, type }) {
  const elements = decode(bytes);
  demand(elements.length > 0, 'element missing');
  demand(elements.length === 1, 'trailing bytes');
  demand(tags.includes(elements[0].tag), 'another tag');
  type(elements[0]);
  return elements[0];
}

/** @param {Buffer} bytes */
function demandResponse(bytes) {
  const [status, body] = demandOne(bytes, response).children;
  demand((status.content[0] === 0) === (body !== undefined), 'responseBytes and status disagree');
  if (body === undefined) return;
  const [type, octets] = body.children[0].children;
  if (type.content.toString('hex') === BASIC) demandOne(octets.content, basicResponse);
}

/**
 * @param {Buffer} bytes
 * @param {'response' | 'certificate' | 'crl'} [kind]
 * @returns {string | null} the rule that the bytes break; null: none
 */
export function breachOf(bytes, kind = 'response') {
  try {
    if (kind === 'response') demandResponse(bytes);
    else demandOne(bytes, kind === 'crl' ? crl : certificate);
    return null;
  } catch (error) {
    if (error instanceof Breach) return error.message;
    throw error;
  }
}
