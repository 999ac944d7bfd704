/** Where pkijs is wrong, each shown from the bytes, so that nothing else passes for it. */
import { decode } from './grammar.js';

/** @typedef {import('./grammar.js').Element} Element */
/** @typedef {import('./readings.js').Reading} Reading */

/** Milliseconds at the start of the year 100. */
const YEAR_100 = Date.UTC(100, 0, 1);

/**
 * @param {Buffer} bytes sound
 * @param {Reading} ours
 * @param {Reading | null} theirs null: refused
 * @returns {string | null} the fault; null: none that is known
 */
export function pkijsFaultIn(bytes, ours, theirs) {
  if (theirs === null) {
    return emptyListIn(bytes) ? 'refuses an empty SEQUENCE OF that the syntax allows' : null;
  }
  const [our, their] = [ours, theirs].map((reading) => JSON.stringify(reading));
  const early = JSON.stringify(ours, (_key, value) => (isEarly(value) ? asPkijsReads(value) : value));
  if (early === their) return 'reads the years 0 to 99 as 1900 to 1999';
  return our === readLongArcs(their) ? 'writes long arcs of an OBJECT IDENTIFIER as octets' : null;
}

/**
 * `{3d7f}`, the arc's octets less their first bits, and `{{3d7f} - 80}` for the second arc, as numbers.
 *
 * @param {string} text
 */
function readLongArcs(text) {
  return text.replace(/\{\{([0-9a-f]+)\} - 80\}|\{([0-9a-f]+)\}/g, (_all, second, other) => {
    const octets = Buffer.from(second ?? other, 'hex');
    const arc = octets.reduce((sum, octet) => sum * 128n + BigInt(octet), 0n);
    return String(second === undefined ? arc : arc - 80n);
  });
}

/** @param {unknown} value */
function isEarly(value) {
  return typeof value === 'number' && value < YEAR_100;
}

/** @param {number} ms */
function asPkijsReads(ms) {
  const date = new Date(ms);
  const [month, day] = [date.getUTCMonth(), date.getUTCDate()];
  return Date.UTC(
    date.getUTCFullYear(),
    month,
    day,
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  );
}

/**
 * `responses`, `certs` and a Name may be empty (RFC 6960 section 4.2.1, RFC 5280 section 4.1.2.4), and Go's Extensions are.
 *
 * @param {Buffer} bytes
 */
function emptyListIn(bytes) {
  const [response] = decode(bytes);
  const octets = response.children[1].children[0].children[1];
  const [basic] = decode(octets.content);
  const [data, , , certs] = basic.children;
  const lists = data.children.filter(({ tag }) => tag === 0x30);
  const names = data.children.filter(({ tag }) => tag === 0xa1).map(({ children }) => children[0]);
  const singles = lists.flatMap(({ children }) => children);
  const extensions = [data, ...singles].flatMap(({ children }) =>
    children.filter(({ tag }, i) => tag === 0xa1 && i > 0).flatMap((explicit) => explicit.children),
  );
  return [...lists, ...names, ...extensions, ...(certs?.children ?? []), ...namesOf(certs)].some(
    ({ children }) => children.length === 0,
  );
}

/** @param {Element | undefined} certs @returns {Element[]} issuers and subjects */
function namesOf(certs) {
  return (certs?.children[0].children ?? []).flatMap(({ children: [tbs] }) => {
    const [, , issuer, , subject] = tbs.children.filter(({ tag }) => tag !== 0xa0);
    return [issuer, subject];
  });
}
