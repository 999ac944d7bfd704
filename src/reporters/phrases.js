/** What reports say in words; shared by those for people. */
import { formatPercent } from '../results/wording.js';
import { formatCount, formatDuration, formatRate } from '../units.js';

/** @typedef {import('../results/schema.js').Result} Result */

/**
 * @param {{url: string, product?: string | null, version?: string | null}} target
 * @returns {string} `http://127.0.0.1:8200 (Vault 1.21.1)`
 */
export function targetPhrase({ url, product, version }) {
  const name = [product, version].filter((part) => part).join(' ');
  return name === '' ? url : `${url} (${name})`;
}

/**
 * @param {Pick<Result['load'], 'model' | 'ratePerSecond' | 'concurrency' | 'threads' | 'arrivals' | 'durationMs' | 'requests' | 'rampUpMs'>} load
 * @returns {string} `open loop at 20/s, 20 s`
 */
export function loadPhrase(load) {
  const { model, ratePerSecond, concurrency, threads, arrivals, durationMs, requests, rampUpMs } = load;
  const parts = [
    model === 'open'
      ? `open loop at ${formatRate(Number(ratePerSecond))}`
      : `closed loop, ${formatCount(concurrency)} in flight`,
    arrivals === 'poisson' ? 'Poisson arrivals' : '',
    rampUpMs > 0 ? `ramp-up ${formatDuration(rampUpMs)}` : '',
    threads > 1 ? `${threads} threads` : '',
    durationMs === null ? '' : formatDuration(durationMs),
    requests === null ? '' : counted(requests, 'request'),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/**
 * @param {number} number
 * @param {string} noun
 */
export function counted(number, noun) {
  return `${formatCount(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * @param {number} perSecond
 * @returns {string} always per second, three digits: `0.278/s`, `19.9/s`, `1,234/s`
 */
export function perSecondText(perSecond) {
  return `${formatCount(perSecond >= 100 ? Math.round(perSecond) : Number(perSecond.toPrecision(3)))}/s`;
}

/**
 * @param {Result} result
 * @returns {string} what was checked of the answers, and with what outcome
 */
export function verificationPhrase({ verification, operations }) {
  const { checked, passed, sampled, unchecked } = verification;
  const names = [...new Set(Object.values(operations).map(({ things }) => things ?? 'answers'))];
  const answers = names.length === 1 ? names[0] : 'answers';
  if (checked + unchecked === 0) return 'nothing: no answer came that could be checked';
  if (checked === 0) return `none of ${formatCount(unchecked)} ${answers} checked`;
  const all = checked + unchecked;
  const share = sampled ? `sampled (${formatPercent(checked / all)}): ` : '';
  const verdict = passed === checked ? 'all passed' : `${formatCount(checked - passed)} did not pass`;
  return `${share}${formatCount(checked)} of ${formatCount(all)} ${answers} checked, ${verdict}`;
}

/**
 * @param {Result} result
 * @returns {string[]} what a reader must know to take the numbers for what they are
 */
export function notePhrases({ load, warmup, verification }) {
  const notes = [...(verification.notes ?? [])];
  if (load.model === 'closed') {
    notes.push(
      'Closed-loop latencies hide waiting: the next request is sent only after an answer, so a slow target is asked less often. Use --rate to see what users would wait.',
    );
  }
  if (warmup.seconds > 0) {
    notes.push(
      `The warm-up (${formatDuration(warmup.seconds * 1000)}, ${counted(warmup.sent, 'request')}) is not in these numbers.`,
    );
  }
  return notes;
}
