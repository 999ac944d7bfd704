/**
 * What `ocsp --about` asks about: certificates that are good or revoked, serials that were never issued, an issuer that the
 * responder does not know; by weight, each with the answer that it should get. Which kind request `index` is of follows from the seed
 * and the index alone.
 */
import { usageError } from '../common/errors.js';
import { OCSP_VERDICTS } from '../pki/ocsp-check.js';
/** @import { OcspVerdict } from '../pki/ocsp-check.js' */
/** @import { Verdict } from './index.js' */

/** @typedef {'good' | 'revoked' | 'unknown' | 'unauthorized'} ExpectedAnswer */
/** @typedef {'good' | 'revoked' | 'never-issued' | 'wrong-issuer'} KindName */
/** @typedef {{name: KindName | null, weight: number, expect: ExpectedAnswer}} Kind `name` is null without --about */

/**
 * The kinds, and what Vault answers: for a serial that was never issued `good`, which RFC 6960 section 2.2 allows and the CA/Browser
 * Forum's Baseline Requirements (4.9.10) forbid.
 *
 * @type {Readonly<Record<KindName, {expect: ExpectedAnswer, what: string}>>}
 */
export const KINDS = Object.freeze({
  good: { expect: 'good', what: 'a certificate that is not revoked' },
  revoked: { expect: 'revoked', what: 'a certificate that is revoked' },
  'never-issued': { expect: 'good', what: 'a serial that was never issued' },
  'wrong-issuer': { expect: 'unknown', what: 'a certificate of an issuer that the responder does not know' },
});

/** `unauthorized` is the refusal that RFC 9919 has for certificates that a responder has no answer about. */
export const ANSWERS = Object.freeze(
  /** @type {ExpectedAnswer[]} */ (['good', 'revoked', 'unknown', 'unauthorized']),
);

/** Certificates of each kind that are issued without --pool. */
export const DEFAULT_POOL = 10;

const NAMES = Object.freeze(/** @type {KindName[]} */ (Object.keys(KINDS)));
const EXAMPLE = 'Write it as good=90,revoked=5,never-issued=3,wrong-issuer=2.';

/**
 * @param {readonly string[]} about texts such as `revoked=5`; none: only given or issued certificates
 * @param {readonly string[]} expect one answer; with `about` texts such as `never-issued=unknown`
 * @returns {Kind[]} at least one
 * @throws {PkiLoadError}
 */
export function readKinds(about, expect) {
  if (about.length === 0) return [{ name: null, weight: 1, expect: onlyAnswer(expect) }];
  /** @type {Map<string, Kind>} */
  const kinds = new Map();
  for (const text of about) {
    const [name, value] = splitPair(text, '--about', EXAMPLE);
    if (!isKind(name)) throw unknownKind('--about', text, NAMES);
    if (kinds.has(name)) throw usageError('bad_option', `--about names ${name} twice.`, EXAMPLE);
    kinds.set(name, { name, weight: weightOf(value, text), expect: KINDS[name].expect });
  }
  /** @type {Set<string>} */
  const said = new Set();
  for (const text of expect) {
    const [name, value] = splitPair(
      text,
      '--expect',
      'With --about, say of which kind: --expect never-issued=unknown.',
    );
    const kind = kinds.get(name);
    if (kind === undefined) throw unknownKind('--expect', text, [...kinds.keys()]);
    if (said.has(name)) throw usageError('bad_option', `--expect names ${name} twice.`, 'Name it once.');
    said.add(name);
    kind.expect = answerOf(value, text);
  }
  return [...kinds.values()];
}

/** @param {readonly string[]} expect @returns {ExpectedAnswer} */
function onlyAnswer(expect) {
  if (expect.length === 0) return 'good';
  const [text] = expect;
  if (expect.length > 1 || text.includes('=')) {
    throw usageError(
      'contradiction',
      `--expect is ${quote(expect.join(','))}, an answer for each kind, but --about names no kinds.`,
      'Give --about too, or one answer: --expect revoked.',
    );
  }
  return answerOf(text, text);
}

/**
 * @param {string} text
 * @param {string} flag
 * @param {string} remedy
 * @returns {[string, string]}
 */
function splitPair(text, flag, remedy) {
  const parts = text.split('=').map((part) => part.trim());
  if (parts.length === 2 && parts[0] !== '' && parts[1] !== '') return [parts[0], parts[1]];
  throw usageError('bad_option', `${flag} holds ${quote(text)}, which is not KIND=VALUE.`, remedy);
}

/** @param {string} name @returns {name is KindName} */
function isKind(name) {
  return Object.hasOwn(KINDS, name);
}

/** @param {string} flag @param {string} text @param {readonly string[]} known */
function unknownKind(flag, text, known) {
  const where = flag === '--expect' ? ', which --about does not name' : ', which is no kind of certificate';
  return usageError(
    'bad_option',
    `${flag} holds ${quote(text)}${where}.`,
    `There ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}.`,
  );
}

/** @param {string} value @param {string} text */
function weightOf(value, text) {
  const weight = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : 0;
  if (weight > 0) return weight;
  throw usageError(
    'bad_option',
    `--about holds ${quote(text)}, whose weight is not a number above zero.`,
    'Write it in digits, e.g. revoked=5; leave out what is not to be asked about.',
  );
}

/** @param {string} value @param {string} text @returns {ExpectedAnswer} */
function answerOf(value, text) {
  const found = ANSWERS.find((answer) => answer === value);
  if (found !== undefined) return found;
  throw usageError(
    'bad_option',
    `--expect holds ${quote(text)}, which is no status of a responder.`,
    `It can be ${ANSWERS.join(', ')}.`,
  );
}

/** @param {string} text */
function quote(text) {
  return JSON.stringify(text.slice(0, 80));
}

/** @param {KindName | null} kind @param {ExpectedAnswer} answer @returns {string} outcome of a success */
export function expectedOutcome(kind, answer) {
  return kind === null || kind === answer ? answer : `${snake(kind)}_${answer}`;
}

/**
 * @param {KindName | null} kind
 * @param {ExpectedAnswer} answer
 * @returns {string} outcome of a failure: a proper answer, but not the one that should come
 */
export function contraryOutcome(kind, answer) {
  if (answer === 'unauthorized') return 'ocsp_unauthorized';
  return kind === null ? `status_${answer}` : `${snake(kind)}_but_${answer}`;
}

/** @param {string} name */
function snake(name) {
  return name.replace('-', '_');
}

/**
 * Vault answers so under a CertID of its own: see ocsp.js.
 *
 * @param {KindName | null} kind
 * @param {ExpectedAnswer} answer
 */
function isOther(kind, answer) {
  return kind === 'wrong-issuer' && answer === 'unknown';
}

/** What answers of every kind are called, a sentence each. @returns {Record<string, string>} */
export function answerOutcomes() {
  const statuses = ANSWERS.filter((answer) => answer !== 'unauthorized');
  const rows = (/** @type {KindName | null} */ kind, /** @type {string} */ what) => [
    ...ANSWERS.map((answer) => [
      expectedOutcome(kind, answer),
      answer === 'unauthorized'
        ? `${what}refused as expected (unauthorized), which no responder signs`
        : `${what}the expected status, ${answer}, and every check passed${isOther(kind, answer) ? ', but that of the CertID where a note says so' : ''}`,
    ]),
    ...statuses.map((answer) => [
      contraryOutcome(kind, answer),
      `${what}a proper answer, but ${answer} where another was expected`,
    ]),
  ];
  const named = NAMES.flatMap((name) => rows(name, `asked about ${KINDS[name].what}: `));
  // `good` and `revoked` mean the same with --about and without.
  return Object.fromEntries([...named, ...rows(null, '')]);
}

/**
 * @param {Kind} kind
 * @returns {Readonly<Record<OcspVerdict, Verdict>>} what each verdict on an answer to it counts as
 */
export function verdictsOf({ name, expect }) {
  const verdicts = /** @type {OcspVerdict[]} */ (Object.keys(OCSP_VERDICTS));
  return /** @type {Record<OcspVerdict, Verdict>} */ (
    Object.fromEntries(verdicts.map((verdict) => [verdict, Object.freeze(verdictOf(name, expect, verdict))]))
  );
}

/**
 * @param {KindName | null} kind
 * @param {ExpectedAnswer} expect
 * @param {OcspVerdict} verdict
 * @returns {Verdict}
 */
function verdictOf(kind, expect, verdict) {
  const answer = ANSWERS.find(
    (one) => one === verdict || (one === 'unauthorized' && verdict === UNAUTHORIZED),
  );
  if (answer === expect) {
    return { outcome: expectedOutcome(kind, answer), success: true, verification: 'passed' };
  }
  const isRefusal = verdict.startsWith('ocsp_') && verdict !== 'ocsp_wrong_type';
  return {
    outcome: answer === undefined ? verdict : contraryOutcome(kind, answer),
    success: false,
    verification: isRefusal ? null : 'failed',
  };
}

const UNAUTHORIZED = 'ocsp_unauthorized';
