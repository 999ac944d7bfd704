/**
 * Mutant by mutant: the reader under test beside the grammar, which decides what may be accepted, beside pkijs, which reads
 * the same fields from what is accepted, and the whole check beside what the original meant. What must not be is kept by
 * number, so that it can be made again: `unexplained`, `differing`, `wrong`.
 */
import { readFileSync } from 'node:fs';
import { createOcspChecker, isOcspStatus } from '../../../src/pki/ocsp-check.js';
import { decode } from './grammar.js';
import { createDraw, mutate } from './mutators.js';
import { breachOf } from './ocsp-syntax.js';
import { readOurselves, readWithPkijs } from './readings.js';
import { readNodes } from './tree.js';

/** @import { OcspChecker } from '../../../src/pki/ocsp-check.js' */
/** @import { Element } from './grammar.js' */
/** @import { Reading } from './readings.js' */

/**
 * @typedef {object} Tally
 * @property {number} mutants
 * @property {number} accepted every field as pkijs reads it
 * @property {number} acceptedAlone sound by the grammar; pkijs refuses it, or is known to misread it
 * @property {number} refused
 * @property {string[]} differing a field is read otherwise than by pkijs
 * @property {string[]} unexplained the grammar and we do not agree
 * @property {Record<string, number>} breaches refused, by the rule of the grammar that is broken
 * @property {string[]} wrong accepted although signed bytes, signature or meaning are not the original's
 */

/** So many of each kind of what must not be are kept. */
const MAX_EXAMPLES = 20;

/**
 * What was changed in a mutant and may be, since it is not signed and says nothing: certificates beside the one that
 * signed, and whether the parameters of an algorithm are NULL or absent. The rest must be as it was.
 */
const HARMLESS = Object.freeze(['nothing', 'certificates', 'NULL or absent', 'certificates, NULL or absent']);

/** pkijs reads the years 0 to 99 as 1900 to 1999. */
const YEAR_100 = Date.UTC(100, 0, 1);

const unpack = (/** @type {string} */ text) => Buffer.from(text, 'base64');
/** @type {Map<string, OcspChecker>} */
const checkers = new Map();

/** Responses recorded from the embedded server, from OpenSSL and from ../ocsp-builder.js, with the certificates of their CAs. */
export const ORIGINALS = readFileSync(new URL('seeds.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const { name, issuer, certId, nonce, verdict, nowMs, ...seed } = JSON.parse(line);
    const bytes = unpack(seed.bytes);
    const [root] = readNodes(bytes);
    const checker = checkers.get(issuer) ?? createOcspChecker({ issuerDer: unpack(issuer), maxCached: 0 });
    checkers.set(issuer, checker);
    const expected = { certId: { raw: unpack(certId) }, nonce: nonce && unpack(nonce), nowMs };
    return { name, verdict, bytes, root, checker, expected, reading: readOurselves(bytes).reading };
  });

/** @returns {Tally} */
export function emptyTally() {
  return {
    mutants: 0,
    accepted: 0,
    acceptedAlone: 0,
    refused: 0,
    differing: [],
    unexplained: [],
    breaches: {},
    wrong: [],
  };
}

/** @param {Tally} tally */
export function isClean({ differing, unexplained, wrong }) {
  return [differing, unexplained, wrong].every((list) => list.length === 0);
}

/** @param {Record<string, number>} counts @param {string} name @param {number} [by] */
function count(counts, name, by = 1) {
  counts[name] = (counts[name] ?? 0) + by;
}

/** @param {string[]} examples @param {string} example */
function note(examples, example) {
  if (examples.length < MAX_EXAMPLES) examples.push(example);
}

/** @param {Tally} tally @param {Tally} more added to it */
export function addTally(tally, more) {
  for (const [key, value] of Object.entries(more)) {
    const target = Object(tally)[key];
    if (typeof value === 'number') Object(tally)[key] += value;
    else if (Array.isArray(value)) for (const example of value) note(target, example);
    else for (const [name, by] of Object.entries(value)) count(target, name, by);
  }
}

/** @param {number} seed @param {number} number */
export function makeMutant(seed, number) {
  const draw = createDraw(seed, number);
  const original = ORIGINALS[draw(ORIGINALS.length)];
  return { original, ...mutate(original, draw) };
}

/** @param {Tally} tally changed @param {number} seed @param {number} number of the mutant */
export function compareMutant(tally, seed, number) {
  const { original, bytes, ways } = makeMutant(seed, number);
  const label = `mutant ${number} of seed ${seed} (${original.name}; ${ways.join(', ')})`;
  const { reading, why } = readOurselves(bytes);
  const breach = breachOf(bytes);
  tally.mutants += 1;
  if ((breach === null) !== (reading !== null)) {
    note(tally.unexplained, `${label}: we say ${why || 'sound'}, the grammar says ${breach ?? 'sound'}`);
  }
  if (reading !== null) compareAccepted(tally, bytes, reading, label);
  else {
    tally.refused += 1;
    count(tally.breaches, breach ?? 'no rule');
  }
  judgeMutant(tally, original, bytes, reading, label);
}

/** @param {Tally} tally @param {Buffer} bytes @param {Reading} ours @param {string} label */
function compareAccepted(tally, bytes, ours, label) {
  const { reading } = readWithPkijs(bytes);
  const [our, their] = [ours, reading].map((one) => JSON.stringify(one));
  let isEarly = false;
  JSON.stringify(ours, (_key, value) => {
    isEarly ||= typeof value === 'number' && value < YEAR_100;
    return value;
  });
  if (our === their) tally.accepted += 1;
  // It refuses empty lists that the syntax allows, and writes long arcs of an OBJECT IDENTIFIER as {octets}.
  else if (reading === null || isEarly || /"[^"]*\{[0-9a-f]+\}/.test(their)) tally.acceptedAlone += 1;
  else note(tally.differing, `${label}: ${our} and ${their}`);
}

/**
 * @param {Tally} tally
 * @param {typeof ORIGINALS[number]} original
 * @param {Buffer} bytes
 * @param {Reading | null} reading
 * @param {string} label
 */
function judgeMutant(tally, { checker, expected, verdict: meant, reading: before }, bytes, reading, label) {
  const verdict = checker.check(bytes, expected);
  if (!isOcspStatus(verdict)) return;
  const what = changeOf(Object(before?.basic), Object(reading?.basic));
  if (verdict !== meant || !HARMLESS.includes(what))
    note(tally.wrong, `${label}: ${verdict}, changed: ${what}`);
}

/**
 * @param {Record<string, any>} was
 * @param {Record<string, any>} is
 * @returns {string} the fields that differ
 */
function changeOf({ certs: certsBefore, ...was }, { certs, ...is }) {
  const fields = Object.keys(was).filter((key) => JSON.stringify(was[key]) !== JSON.stringify(is[key]));
  const names = fields.map((key) => {
    const onlyNull = key === 'algorithm' && withoutNull(was[key]) === withoutNull(is[key]);
    return onlyNull ? 'NULL or absent' : key;
  });
  if (JSON.stringify(certsBefore) !== JSON.stringify(certs)) names.unshift('certificates');
  return names.join(', ') || 'nothing';
}

/**
 * @param {{oid: string, parameters: string | null}} algorithm
 * @returns {string} without the NULLs that might as well be absent, also within the parameters of RSASSA-PSS
 */
function withoutNull({ oid, parameters }) {
  const elements = parameters === null || parameters === '0500' ? [] : decode(Buffer.from(parameters, 'hex'));
  return `${oid} ${JSON.stringify(elements.map(dropNull))}`;
}

/** @param {Element} element @returns {unknown[]} */
function dropNull({ tag, content, children }) {
  if (children.length === 0) return [tag, content.toString('hex')];
  const isAlgorithm = children.length === 2 && children[0].tag === 0x06 && children[1].tag === 0x05;
  return [tag, (isAlgorithm ? children.slice(0, 1) : children).map(dropNull)];
}
