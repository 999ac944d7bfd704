/** The kinds of certificates of `ocsp --about`, by weight, with their expected status and outcomes. */
import { badValue, quote, usageError } from '../common/errors.js';
import { OCSP_OUTCOMES } from '../pki/ocsp-check.js';
import { failed, passed, refused } from './outcomes.js';
/** @import { OcspVerdict } from '../pki/ocsp-check.js' */
/** @import { Classification } from './index.js' */

/** `unauthorized`: RFC 9919, for certificates whose status a responder does not have. */
export const EXPECTED_STATUSES = /** @type {const} */ (['good', 'revoked', 'unknown', 'unauthorized']);

/** @typedef {typeof EXPECTED_STATUSES[number]} ExpectedStatus */
/** @typedef {'good' | 'revoked' | 'never-issued' | 'wrong-issuer'} KindName */
/** @typedef {{name: KindName | null, weight: number, expect: ExpectedStatus}} Kind `name` is null without --about */

/**
 * The statuses that Vault returns. For a serial that was never issued this is `good`, which RFC 6960 section 2.2
 * allows and the CA/Browser Forum's Baseline Requirements (4.9.10) forbid.
 * @type {Readonly<Record<KindName, {expect: ExpectedStatus, subject: string}>>}
 */
export const KINDS = Object.freeze({
  good: { expect: 'good', subject: 'a valid certificate' },
  revoked: { expect: 'revoked', subject: 'a revoked certificate' },
  'never-issued': { expect: 'good', subject: 'a serial that was never issued' },
  'wrong-issuer': { expect: 'unknown', subject: 'a certificate of an issuer unknown to the responder' },
});

const NAMES = /** @type {KindName[]} */ (Object.keys(KINDS));

/** Number of certificates to issue for each kind if --pool is not given. */
export const DEFAULT_POOL = 10;

/**
 * @param {readonly string[]} about strings such as `revoked=5`; empty: without --about
 * @param {readonly string[]} expect one status; with `about` strings such as `never-issued=unknown`
 * @returns {Kind[]} at least one @throws {PkiLoadError}
 */
export function readKinds(about, expect) {
  if (about.length === 0) {
    const [text = 'good'] = expect;
    if (expect.length <= 1 && !text.includes('='))
      return [{ name: null, weight: 1, expect: readStatus(text, text) }];
    const message = `--expect is ${quote(expect)}, a status for each kind, but --about is not given.`;
    throw usageError('contradiction', message, 'Add --about, or use one status: --expect revoked.');
  }
  const weights = readPairs('--about', about, NAMES, readWeight);
  const expected = readPairs('--expect', expect, [...weights.keys()], readStatus);
  const expectOf = (/** @type {KindName} */ name) => expected.get(name) ?? KINDS[name].expect;
  return [...weights].map(([name, weight]) => ({ name, weight, expect: expectOf(name) }));
}

/** @param {Record<string, any>} options @returns {{good: boolean, revoked: boolean}} whether the run issues any */
export function kindsToIssue({ about, cert, serials, revokedSerials }) {
  const isGiven = cert !== null || serials !== null;
  const names = readKinds(about, []).map(({ name }) => name ?? 'good');
  return {
    good: names.includes('good') && !isGiven,
    revoked: names.includes('revoked') && revokedSerials === null,
  };
}

const EXAMPLES = {
  '--about': 'Write it as good=90,revoked=5,never-issued=3,wrong-issuer=2.',
  '--expect': 'With --about, name the kind: --expect never-issued=unknown.',
};

/**
 * @template T @param {keyof typeof EXAMPLES} flag @param {readonly string[]} entries such as `revoked=5`
 * @param {readonly KindName[]} known @param {(value: string, entry: string) => T} readValue
 */
function readPairs(flag, entries, known, readValue) {
  /** @type {Map<KindName, T>} */
  const pairs = new Map();
  for (const entry of entries) {
    const [name, value, ...more] = entry.split('=').map((part) => part.trim());
    const kind = /** @type {KindName} */ (name);
    const why =
      !value || more.length > 0
        ? 'which is not KIND=VALUE'
        : !known.includes(kind)
          ? `whose kind is not one of ${known.join(', ')}`
          : pairs.has(kind) && `but names ${kind} twice`;
    if (why) throw usageError('bad_option', `${flag} is ${quote(entry)}, ${why}.`, EXAMPLES[flag]);
    pairs.set(kind, readValue(value, entry));
  }
  return pairs;
}

/** @param {string} value @param {string} text */
function readWeight(value, text) {
  const weight = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : 0;
  if (weight > 0) return weight;
  const remedy = 'Write the weight in digits, e.g. revoked=5, or leave the kind out.';
  throw badValue('--about', text, 'not a kind with a weight above zero', remedy);
}

/** @param {string} value @param {string} text */
function readStatus(value, text) {
  const found = EXPECTED_STATUSES.find((status) => status === value);
  if (found !== undefined) return found;
  throw badValue('--expect', text, 'not an OCSP status', `It can be ${EXPECTED_STATUSES.join(', ')}.`);
}

/**
 * @param {KindName | null} kind @param {ExpectedStatus} status
 * @param {boolean} isExpected false: a valid response with another status @returns {string} outcome
 */
export function outcomeOf(kind, status, isExpected) {
  const prefix = kind?.replace('-', '_');
  if (isExpected) return prefix === undefined || prefix === status ? status : `${prefix}_${status}`;
  if (status === 'unauthorized') return 'ocsp_unauthorized';
  return prefix === undefined ? `status_${status}` : `${prefix}_but_${status}`;
}

/** @param {KindName | null} kind @param {ExpectedStatus} status @param {boolean} isExpected @returns {string} meaning of the outcome */
function describeOutcome(kind, status, isExpected) {
  const about = kind === null ? '' : `${KINDS[kind].subject}: `;
  if (!isExpected) return `${about}a valid response, but its status is ${status}, not the expected one`;
  if (status === 'unauthorized') return `${about}refused as expected (unauthorized, an unsigned response)`;
  const note =
    kind === 'wrong-issuer' && status === 'unknown' ? ' (except for the CertID, if a note reports that)' : '';
  return `${about}the expected status, ${status}, and every check passed${note}`;
}

/** Meanings of the outcomes of all kinds. @returns {Record<string, string>} */
export function outcomesOf() {
  // `good` and `revoked` mean the same with --about and without: the last meaning counts.
  const outcomes = [...NAMES, null].flatMap((kind) =>
    EXPECTED_STATUSES.flatMap((status) =>
      (status === 'unauthorized' ? [true] : [true, false]).map((isExpected) => [
        outcomeOf(kind, status, isExpected),
        describeOutcome(kind, status, isExpected),
      ]),
    ),
  );
  return Object.fromEntries(outcomes);
}

/** @param {Kind} kind @returns {Readonly<Record<OcspVerdict, Classification>>} by verdict of the OCSP check */
export function verdictsOf({ name, expect }) {
  const verdicts = Object.keys(OCSP_OUTCOMES).map((verdict) => {
    const status = EXPECTED_STATUSES.find(
      (each) => verdict === (each === 'unauthorized' ? 'ocsp_unauthorized' : each),
    );
    const isExpected = status === expect;
    const outcome = status === undefined ? verdict : outcomeOf(name, status, isExpected);
    const isRefusal = verdict.startsWith('ocsp_') && verdict !== 'ocsp_wrong_type';
    return [verdict, isExpected ? passed(outcome) : isRefusal ? refused(outcome) : failed(outcome)];
  });
  return Object.fromEntries(verdicts);
}
