/**
 * Mutant by mutant: the reader under test beside pkijs, beside the grammar, and the whole check beside what the original
 * meant. What must not be is kept by number, so that it can be made again: `laxer`, `differing`, `unexplained`, `wrong`.
 */
import { readFileSync } from 'node:fs';
import { createOcspChecker } from '../../../src/pki/ocsp-check.js';
import { isOcspStatus } from '../../../src/pki/ocsp-verdicts.js';
import { decode } from './grammar.js';
import { createDraw, mutate } from './mutators.js';
import { breachOf } from './ocsp-syntax.js';
import { pkijsFaultIn } from './pkijs-faults.js';
import { readOurselves, readWithPkijs } from './readings.js';
import { readNodes } from './tree.js';

/** @typedef {import('./readings.js').Reading} Reading */
/**
 * @typedef {object} Tally
 * @property {number} mutants
 * @property {number} acceptedByBoth every field the same
 * @property {number} refusedByBoth
 * @property {number} refusedUnasked by us; pkijs was not asked
 * @property {Record<string, number>} stricter refused by us alone, by the rule of the grammar that is broken
 * @property {Record<string, number>} pkijsFaults accepted by us, refused or misread by pkijs, by its fault
 * @property {string[]} laxer accepted by us, refused by pkijs, and no fault of pkijs is known for it
 * @property {string[]} differing a field is read otherwise
 * @property {string[]} unexplained the grammar and we do not agree
 * @property {Record<string, number>} verdicts of the whole check
 * @property {Record<string, number>} believed mutants that were accepted as an answer, by what was changed in them
 * @property {string[]} wrong accepted although signed bytes, signature or meaning are not the original's
 */

/** So many of each kind of what must not be are kept. */
const MAX_EXAMPLES = 20;

/**
 * What was changed in a mutant and may be, since it is not signed and says nothing: certificates beside the one that
 * signed, and whether the parameters of an algorithm are NULL or absent. The rest must be as it was.
 */
const HARMLESS = Object.freeze(['nothing', 'certificates', 'NULL or absent', 'certificates, NULL or absent']);

const { nowMs, seeds } = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8'));
const unpack = (/** @type {string} */ text) => Buffer.from(text, 'base64');
/** @type {Map<string, import('../../../src/pki/ocsp-check.js').OcspChecker>} */
const checkers = new Map();

/** The responses of seeds.json, read once. */
export const ORIGINALS = seeds.map((/** @type {Record<string, any>} */ seed) => {
  const bytes = unpack(seed.bytes);
  const [root] = readNodes(bytes) ?? [];
  const checker =
    checkers.get(seed.issuer) ?? createOcspChecker({ issuerDer: unpack(seed.issuer), maxRemembered: 0 });
  checkers.set(seed.issuer, checker);
  const expected = { certId: { raw: unpack(seed.certId) }, nonce: seed.nonce && unpack(seed.nonce), nowMs };
  return {
    name: seed.name,
    verdict: seed.verdict,
    bytes,
    root,
    checker,
    expected,
    reading: readOurselves(bytes).reading,
  };
});

/** @returns {Tally} */
export function emptyTally() {
  return {
    mutants: 0,
    acceptedByBoth: 0,
    refusedByBoth: 0,
    refusedUnasked: 0,
    stricter: {},
    pkijsFaults: {},
    laxer: [],
    differing: [],
    unexplained: [],
    verdicts: {},
    believed: {},
    wrong: [],
  };
}

/** @param {Record<string, number>} counts @param {string} name @param {number} [by] */
function count(counts, name, by = 1) {
  counts[name] = (counts[name] ?? 0) + by;
}

/** @param {string[]} examples @param {string} example */
function note(examples, example) {
  if (examples.length < MAX_EXAMPLES) examples.push(example);
}

/**
 * @param {Tally} tally
 * @param {Tally} more added to it
 */
export function addTally(tally, more) {
  for (const [key, value] of Object.entries(more)) {
    const target = Object(tally)[key];
    if (typeof value === 'number') Object(tally)[key] += value;
    else if (Array.isArray(value)) for (const example of value) note(target, example);
    else for (const [name, by] of Object.entries(value)) count(target, name, by);
  }
}

/**
 * @param {number} seed
 * @param {number} number
 */
export function makeMutant(seed, number) {
  const draw = createDraw(seed, number);
  const original = ORIGINALS[draw(ORIGINALS.length)];
  return { original, ...mutate(original, draw) };
}

/**
 * @param {Tally} tally changed
 * @param {number} seed
 * @param {number} number of the mutant
 * @param {{askPkijsOf?: number}} [options] of what we refuse, pkijs is asked about one in so many
 */
export function compareMutant(tally, seed, number, { askPkijsOf = 1 } = {}) {
  const { original, bytes, ways } = makeMutant(seed, number);
  const label = `mutant ${number} of seed ${seed} (${original.name}; ${ways.join(', ')})`;
  const ours = readOurselves(bytes);
  const breach = breachOf(bytes);
  tally.mutants += 1;
  if ((breach === null) !== (ours.reading !== null)) {
    note(tally.unexplained, `${label}: we say ${ours.why || 'sound'}, the grammar says ${breach ?? 'sound'}`);
  }
  if (ours.reading !== null) compareAccepted(tally, bytes, ours.reading, label);
  else if (number % askPkijsOf !== 0) tally.refusedUnasked += 1;
  else if (readWithPkijs(bytes).reading === null) tally.refusedByBoth += 1;
  else count(tally.stricter, breach ?? 'no rule');
  judgeMutant(tally, original, bytes, ours.reading, label);
}

/**
 * @param {Tally} tally
 * @param {Buffer} bytes
 * @param {Reading} ours
 * @param {string} label
 */
function compareAccepted(tally, bytes, ours, label) {
  const theirs = readWithPkijs(bytes);
  if (theirs.reading !== null && JSON.stringify(ours) === JSON.stringify(theirs.reading)) {
    tally.acceptedByBoth += 1;
    return;
  }
  const fault = pkijsFaultIn(bytes, ours, theirs.reading);
  if (fault !== null) count(tally.pkijsFaults, fault);
  else if (theirs.reading === null) note(tally.laxer, `${label}: pkijs says ${theirs.why}`);
  else note(tally.differing, `${label}: ${JSON.stringify(ours)} and ${JSON.stringify(theirs.reading)}`);
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
  count(tally.verdicts, verdict);
  if (!isOcspStatus(verdict)) return;
  const what = changeOf(Object(before?.basic), Object(reading?.basic));
  count(tally.believed, what);
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

/**
 * @param {import('./grammar.js').Element} element
 * @returns {unknown[]}
 */
function dropNull({ tag, content, children }) {
  if (children.length === 0) return [tag, content.toString('hex')];
  const isAlgorithm = children.length === 2 && children[0].tag === 0x06 && children[1].tag === 0x05;
  return [tag, (isAlgorithm ? children.slice(0, 1) : children).map(dropNull)];
}
