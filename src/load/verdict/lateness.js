/**
 * How much longer the reported p99 is for the tool's own lateness. A request that was sent late by s, and whose answer
 * was read late by r, is reported as s + t + r, with t the target's own. Of s every request's is known, so what p99 would
 * be without it is known too (`unlagged`). Of r there are samples at random times (`reaction`): where t hardly varies, r adds
 * its own p99, less what noticing anything costs at best; where t does vary, it adds less. It adds no more than what p99 is
 * above the fastest answer, taking it that one at least of the fastest was read when it came. Samples are few in a short
 * run, so that their p99 may be on either side of that of r: suspect goes by the upper end of what r may be, invalid by
 * the lower.
 *
 * A time of r > t is found in proportion to r, but no more answers wait for it than were under way when it began: what is
 * due meanwhile is sent late, not read late, and in a closed loop nothing is. So such a look counts for t / r only.
 */
import { valueAtRank, valueAtShare } from '../../histogram.js';
import { formatDuration } from '../../units.js';

/** @typedef {import('./observed.js').Observed} Observed */
/** @typedef {import('./judge.js').Reason} Reason */

/** How much the tool's lateness may add to a figure of the target's own. */
const SUSPECT = 0.1;
const INVALID = 0.5;

/** Invalid is no matter of less than this, nor of fewer late samples: a hiccup happens to any process. */
const INVALID_MS = 1;
const INVALID_SAMPLES = 3;

/** Fewer looks, in half a second or less, are no distribution: a run so short is not called invalid for them. */
const INVALID_LOOKS = 50;

/** Looks that a distribution is read off at. */
const POINTS = 1000;

/** Of the requests, above p99. */
const TAIL = 0.01;

/** Standard deviations of the normal distribution that 95 of 100 do not exceed. */
const SURE = 1.645;

/** One of both kinds of lateness is worth a sentence from this part of both on. */
const NAMED = 0.25;

/**
 * @param {Observed} observed
 * @returns {Reason[]}
 */
export function lateness(observed) {
  const { response, unlagged, service, lag, reaction } = observed;
  if (response.totalCount === 0) return [];
  const whole = valueAtShare(response, 0.99);
  const sentMs = Math.max(0, whole - valueAtShare(unlagged, 0.99));
  const fastest = service.totalCount === 0 ? 0 : valueAtRank(service, 1);
  const atMost = (/** @type {number} */ ms) => Math.min(ms, Math.max(0, whole - sentMs - fastest));
  const partOf = (/** @type {number} */ ms) => (sentMs + ms) / Math.max(whole - sentMs - ms, 0.001);
  const surelyMs = atMost(readLateMs(reaction, medianOf(service), atLeastOf));
  const readMs = atMost(readLateMs(reaction, medianOf(service), atMostOf));
  const both = partOf(readMs);
  const medianMs = Math.max(0, valueAtShare(response, 0.5) - valueAtShare(unlagged, 0.5));
  const medianPart = medianMs / Math.max(valueAtShare(unlagged, 0.5), 0.001);
  const named = (/** @type {number} */ ms) => both > SUSPECT && ms >= NAMED * (sentMs + readMs);
  /** @type {Reason[]} */
  const reasons = [];
  if (named(sentMs) || medianPart > SUSPECT) {
    const grade =
      isInvalid(partOf(surelyMs), sentMs, lag, sentMs >= surelyMs) ||
      isInvalid(medianPart, medianMs, lag, true)
        ? 'invalid'
        : 'suspect';
    reasons.push(sendLag(observed, grade, sentMs, medianMs));
  }
  if (named(readMs)) {
    const isKnown = reaction.totalCount >= INVALID_LOOKS;
    const grade =
      isKnown && isInvalid(partOf(surelyMs), surelyMs, reaction, surelyMs > sentMs) ? 'invalid' : 'suspect';
    const ms = grade === 'invalid' ? surelyMs : readMs;
    reasons.push(readLag(observed, grade, ms, whole));
  } else if (observed.model === 'closed') reasons.push(...pauses(observed));
  return reasons;
}

/** @param {import('../../histogram.js').Histogram} histogram */
function medianOf(histogram) {
  return histogram.totalCount === 0 ? Number.POSITIVE_INFINITY : valueAtShare(histogram, 0.5);
}

/**
 * p99 of r over the requests, less its least.
 *
 * @param {import('../../histogram.js').Histogram} reaction
 * @param {number} usualMs t
 * @param {(looks: number) => number} bound of so many looks in the tail: how many there may be were more looked at
 * @returns {number}
 */
function readLateMs(reaction, usualMs, bound) {
  const { totalCount } = reaction;
  if (totalCount === 0) return 0;
  const points = Math.min(totalCount, POINTS);
  const each = totalCount / points;
  const looks = Array.from({ length: points }, (_, i) => {
    const ms = valueAtRank(reaction, Math.ceil(((i + 0.5) / points) * totalCount));
    return { ms, weight: Math.min(1, usualMs / ms) };
  });
  const all = looks.reduce((sum, { weight }) => sum + weight, 0);
  let [count, above] = [0, 0];
  const at = looks.findLast(({ weight }) => {
    count += each;
    above += weight;
    return (above * bound(count)) / count > TAIL * all + 1e-9;
  });
  return (at ?? looks[0]).ms - looks[0].ms;
}

/**
 * The upper end of the one-sided 95 % interval of a Poisson mean (chi-squared, by Wilson and Hilferty's approximation).
 *
 * @param {number} count that was seen
 */
function atMostOf(count) {
  const n = count + 1;
  return n * (1 - 1 / (9 * n) + SURE / (3 * Math.sqrt(n))) ** 3;
}

/**
 * The lower end of it.
 *
 * @param {number} count that was seen, at least one
 */
function atLeastOf(count) {
  return count * (1 - 1 / (9 * count) - SURE / (3 * Math.sqrt(count))) ** 3;
}

/**
 * @param {number} part what it adds, as a share of the target's own
 * @param {number} ms
 * @param {import('../../histogram.js').Histogram} samples
 * @param {boolean} main the larger one of both kinds of lateness
 */
function isInvalid(part, ms, samples, main) {
  const { totalCount } = samples;
  if (!main || part <= INVALID || ms < INVALID_MS || totalCount < INVALID_SAMPLES) return false;
  return valueAtRank(samples, totalCount - INVALID_SAMPLES + 1) >= ms / 2;
}

/**
 * @param {Observed} observed
 * @param {Reason['grade']} grade
 * @param {number} sentMs
 * @param {number} medianMs
 * @returns {Reason}
 */
function sendLag({ response, model }, grade, sentMs, medianMs) {
  const at = (/** @type {number} */ share, /** @type {number} */ ms) =>
    `${formatDuration(valueAtShare(response, share) - ms)} instead of ${formatDuration(valueAtShare(response, share))}`;
  const remedy =
    model === 'open'
      ? 'Give the tool more CPU, lower --rate, use --threads, or --pacing spin.'
      : 'Give the tool more CPU, or lower --concurrency.';
  const median = medianMs > 0 ? `, and p50 ${at(0.5, medianMs)}` : '';
  return {
    grade,
    code: 'send_lag',
    text: `The tool itself sent late: without that, p99 would be ${at(0.99, sentMs)}${median}.`,
    remedy,
  };
}

/**
 * @param {Observed} observed
 * @param {Reason['grade']} grade
 * @param {number} readMs
 * @param {number} ofMs p99 as far as it is not for late sending
 * @returns {Reason}
 */
function readLag(observed, grade, readMs, ofMs) {
  const percent = Math.min(100, Math.round((readMs / ofMs) * 100));
  const late = formatDuration(readMs);
  const said =
    grade === 'invalid'
      ? `noticed answers about ${late} late (p99), which is about ${percent} % of the p99 that it reports`
      : `may have noticed answers up to ${late} late (p99), which may be ${percent} % of the p99 that it reports`;
  return {
    grade,
    code: 'read_lag',
    text: `The tool ${said}. ${cause(observed, readMs)}`,
    remedy: 'Give the tool more CPU, lower --rate or --concurrency, or use --threads.',
  };
}

/**
 * In a closed loop, time in which the tool paused is time in which nothing was sent.
 *
 * @param {Observed} observed
 * @returns {Reason[]}
 */
function pauses(observed) {
  const { reaction, service } = observed;
  const { totalCount } = reaction;
  const longMs = Math.max(medianOf(service), INVALID_MS);
  if (totalCount === 0 || valueAtShare(reaction, 1 - SUSPECT) <= longMs) return [];
  const half = valueAtShare(reaction, 1 - INVALID) > longMs;
  return [
    {
      grade: half ? 'invalid' : 'suspect',
      code: 'read_lag',
      text: `For ${half ? 'half' : 'a tenth'} of the time or more the tool noticed answers more than ${formatDuration(longMs)} late, and sent less for it. ${cause(observed, longMs)}`,
      remedy: 'Give the tool more CPU, lower --concurrency, or use --threads.',
    },
  ];
}

/**
 * @param {Observed} observed
 * @param {number} readMs
 */
function cause({ gc, runQueueShare }, readMs) {
  if (gc.longestMs >= readMs / 2) {
    const longest = formatDuration(gc.longestMs);
    return gc.count === 1
      ? `It collected garbage once, for ${longest}.`
      : `It collected garbage ${gc.count} times, ${formatDuration(gc.totalMs)} in all, ${longest} at most.`;
  }
  if (runQueueShare !== null && runQueueShare >= 0.01) {
    return `It was ready to run and had no core for ${(runQueueShare * 100).toPrecision(2)} % of the time.`;
  }
  return 'Its event loop was busy with other requests.';
}
