/**
 * DER (X.690 sections 8 and 10) and the syntax of an OCSP response (RFC 6960 section 4.2.1, RFC 5280 section 4.1) as a
 * judge that names the first rule broken. Written from the texts and apart from `src/pki`, for speed of reading, not of
 * running: the second opinion beside pkijs, which checks little of this.
 */

/** A rule is broken; `message` is its name. */
export class Breach extends Error {}

/** @typedef {{tag: number, content: Buffer, children: Element[]}} Element */
/** @typedef {(element: Element) => void} Type throws a Breach */
/** @typedef {{tags: number[], type: Type, optional: boolean}} Field `tags`: none means any */

/** @param {boolean} holds @param {string} rule */
export function demand(holds, rule) {
  if (!holds) throw new Breach(rule);
}

/** @param {Buffer} bytes @returns {Element[]} to the last level */
export function decode(bytes) {
  const elements = [];
  for (let at = 0; at < bytes.length; ) {
    demand(bytes.length - at >= 2, 'element cut off');
    const tag = bytes[at];
    demand((tag & 0x1f) !== 0x1f, 'tag number above 30');
    const { from, length } = lengthAt(bytes, at + 1);
    demand(from + length <= bytes.length, 'length past the end');
    const content = bytes.subarray(from, from + length);
    elements.push({ tag, content, children: (tag & 0x20) === 0 ? [] : decode(content) });
    at = from + length;
  }
  return elements;
}

/** @param {Buffer} bytes @param {number} at */
function lengthAt(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return { from: at + 1, length: first };
  demand(first !== 0x80, 'indefinite length');
  const octets = first - 0x80;
  demand(octets <= 4, 'length of more than four octets');
  demand(at + octets < bytes.length, 'length cut off');
  const length = bytes.readUIntBE(at + 1, octets);
  demand(bytes[at + 1] !== 0 && length >= 0x80, 'length not in its shortest form');
  return { from: at + 1 + octets, length };
}

/** @param {Type} type @param {...number} tags @returns {Field} */
const field = (type, ...tags) => ({ tags, type, optional: false });

/** @param {Field} given @returns {Field} */
export const optional = (given) => ({ ...given, optional: true });

/** @param {...Field} fields @returns {Type} of a constructed element */
const fieldsOf =
  (...fields) =>
  ({ children }) => {
    let at = 0;
    for (const { tags, type, optional: mayMiss } of fields) {
      const child = children[at];
      const fits = child !== undefined && (tags.length === 0 || tags.includes(child.tag));
      if (!fits && mayMiss) continue;
      demand(child !== undefined, 'element missing');
      demand(fits, 'another tag');
      type(child);
      at += 1;
    }
    demand(at === children.length, 'element too many');
  };

/** @param {...Field} fields @returns {Field} */
export const sequence = (...fields) => field(fieldsOf(...fields), 0x30);

/** @param {Field} of @param {number} [tag] @returns {Field} */
export const listOf = ({ tags, type }, tag = 0x30) =>
  field(({ children }) => {
    for (const child of children) {
      demand(tags.includes(child.tag), 'another tag');
      type(child);
    }
  }, tag);

/** @param {Field} of @param {number} [tag] @returns {Field} SIZE (1..MAX) */
export const someOf = (of, tag = 0x30) =>
  field((element) => {
    demand(element.children.length > 0, 'list without elements');
    listOf(of, tag).type(element);
  }, tag);

/** @param {number} number @param {Field} inner @returns {Field} */
export const explicit = (number, inner) => field(fieldsOf(inner), 0xa0 | number);

/** @param {...Field} fields @returns {Field} with the tags of all */
export const choice = (...fields) =>
  field(
    (element) => fields.find(({ tags }) => tags.includes(element.tag))?.type(element),
    ...fields.flatMap(({ tags }) => tags),
  );

/** @param {number} number @param {...Field} fields @returns {Field} a SEQUENCE with another tag */
export const implicitSequence = (number, ...fields) => field(fieldsOf(...fields), 0xa0 | number);

/** @param {number} number @returns {Field} */
export const implicitNull = (number) =>
  field(({ content }) => demand(content.length === 0, 'NULL with contents'), 0x80 | number);

/** @param {Type} [more] @returns {Field} */
export const octetString = (more = () => {}) => field(more, 0x04);

/** @param {(value: Buffer) => void} [more] @returns {Field} */
export const integer = (more = () => {}) =>
  field(({ content }) => {
    demand(content.length > 0, 'INTEGER without contents');
    const nine = content.length === 1 ? -1 : content.readUInt16BE(0) >> 7;
    demand(nine !== 0 && nine !== 0x1ff, 'INTEGER not in its shortest form');
    more(content);
  }, 0x02);

/** @param {number} most @param {string} rule @returns {(value: Buffer) => void} */
export const atMost = (most, rule) => (value) => demand(value.length === 1 && value[0] <= most, rule);

/** @param {(value: Buffer) => void} [more] @returns {Field} */
export const enumerated = (more = () => {}) => field(({ content }) => more(content), 0x0a);

/** @type {Field} */
export const boolean = field(
  ({ content }) =>
    demand(content.length === 1 && (content[0] === 0 || content[0] === 0xff), 'BOOLEAN neither 00 nor ff'),
  0x01,
);

/** @type {Field} of whole octets */
export const bitString = field(
  ({ content }) => demand(content.length > 0 && content[0] === 0, 'BIT STRING not of whole octets'),
  0x03,
);

/** @type {Field} */
export const namedBits = field(({ content: [unused = 8, ...octets] }) => {
  demand(unused < 8 && (octets.length > 0 || unused === 0), 'number of unused bits');
  demand(((octets.at(-1) ?? 0) & (2 ** unused - 1)) === 0, 'unused bits are set');
}, 0x03);

/** @type {Field} */
export const oid = field(({ content }) => {
  demand(content.length > 0 && content[content.length - 1] < 0x80, 'OBJECT IDENTIFIER cut off');
  demand(content.length <= 128, 'OBJECT IDENTIFIER too long');
  content.forEach((octet, i) => {
    demand(octet !== 0x80 || (i > 0 && content[i - 1] >= 0x80), 'OBJECT IDENTIFIER not in its shortest form');
  });
}, 0x06);

/** @param {string} digits YYYYMMDDHHMMSS */
function demandTime(digits) {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(digits) ?? [];
  demand(parts.length === 6, 'time of another form');
  const [year, month, day, hour, minute, second] = parts.map(Number);
  const days = month === 2 ? (new Date(2000 + (year % 400), 1, 29).getMonth() === 1 ? 29 : 28) : 30;
  const long = [1, 3, 5, 7, 8, 10, 12].includes(month) ? 31 : days;
  const sound = month >= 1 && month <= 12 && day >= 1 && day <= long;
  demand(sound && hour <= 23 && minute <= 59 && second <= 59, 'no such time');
}

/** @type {Field} */
export const generalizedTime = field(({ content }) => {
  const text = content.toString('latin1');
  demand(text.endsWith('Z'), 'time of another form');
  demandTime(text.slice(0, -1));
}, 0x18);

/** @type {Field} */
export const utcTime = field(({ content }) => {
  const text = content.toString('latin1');
  demand(/^\d{12}Z$/.test(text), 'time of another form');
  demandTime(`${text < '5' ? '20' : '19'}${text.slice(0, -1)}`);
}, 0x17);

/** @param {string} encoding @returns {(octets: Buffer) => boolean} */
const decodable = (encoding) => {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (octets) => {
    try {
      return decoder.decode(octets) !== null;
    } catch {
      return false;
    }
  };
};
const PRINTABLE = new Set(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 '()+,-./:=?*&"
    .split('')
    .map((c) => c.charCodeAt(0)),
);

/** String types (X.680 section 41) by tag. @type {Record<number, (octets: Buffer) => boolean>} */
const TEXTS = {
  12: decodable('utf-8'),
  18: (octets) => octets.every((octet) => octet === 0x20 || (octet >= 0x30 && octet <= 0x39)),
  19: (octets) => octets.every((octet) => PRINTABLE.has(octet)),
  22: (octets) => octets.every((octet) => octet < 0x80),
  26: (octets) => octets.every((octet) => octet >= 0x20 && octet < 0x7f),
  28: (content) => {
    const units = Array.from({ length: Math.ceil(content.length / 4) }, (_, i) =>
      content.subarray(4 * i, 4 * i + 4).toString('hex'),
    );
    return units.every((unit) => /^00(?:00(?!d[89a-f])|0[1-9a-f]|10)/.test(unit) && unit.length === 8);
  },
  30: (octets) =>
    octets.length % 2 === 0 && octets.every((octet, i) => i % 2 === 1 || octet < 0xd8 || octet > 0xdf),
};

/** @type {Type} X.690 sections 8 and 10.2: of the class universal, only these are constructed */
function sound({ tag, content, children }) {
  children.forEach(sound);
  if (tag >= 0x40) return;
  demand(tag !== 0, 'tag of no type');
  const constructed = [0x08, 0x0b, 0x10, 0x11, 0x1d].includes(tag & 0x1f);
  demand(constructed === ((tag & 0x20) !== 0), 'constructed or primitive against its type');
  const type = [boolean, integer(), namedBits, oid, utcTime, generalizedTime].find(({ tags }) =>
    tags.includes(tag),
  );
  type?.type({ tag, content, children });
  if (tag === 0x0a) integer().type({ tag, content, children });
  demand(TEXTS[tag]?.(content) !== false, 'not text of its type');
  demand(tag !== 0x05 || content.length === 0, 'NULL with contents');
}

/** @type {Field} of any type, sound as DER */
export const any = field(sound);
