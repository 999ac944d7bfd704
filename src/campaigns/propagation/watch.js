/** One certificate at one node: looked at once, or polled until it is revoked, given up or interrupted. */
import { uniform } from '../../common/random.js';
import { createBounds } from './bounds.js';
import { startPoller } from './poller.js';

/** Keeps the phases of polling apart from what else is drawn from a seed. */
const PHASE_STREAM = 31;

/**
 * Polls of one certificate that may wait for a slow node at once. Each certificate has its own, so that none is in another's way: what
 * this program leaves out says nothing of the target.
 */
export const MOST_UNDER_WAY = 16;

/** What a node said in so many polls, or in --timeout where that is longer, before it was given up is what it said in the end. */
const RECENT_POLLS = 10;

/**
 * @param {import('./certificate.js').NodeWatch} node
 * @param {import('./asker.js').Question} question
 * @returns {Promise<string>} outcome
 */
export function lookOnce({ asker, answers }, question) {
  return new Promise((resolve) => {
    asker.ask(question, ({ outcome }) => {
      count(answers, outcome);
      resolve(outcome);
    });
  });
}

/**
 * Polls from the sending of the revocation on: it may be in effect before that is answered. The first poll comes somewhere within
 * the first interval, for a grid that always began with the revocation would favour some delays.
 *
 * @param {import('./certificate.js').NodeWatch} node
 * @param {number} number of the node
 * @param {{certificate: number, question: import('./asker.js').Question, sentMs: number}} subject
 * @param {import('./certificate.js').Circumstances} circumstances
 */
export function watchNode({ asker, answers, counts }, number, subject, { plan, clock, onLag, stop, nodes }) {
  const { certificate, question, sentMs } = subject;
  const bounds = createBounds();
  let underWay = 0;
  let lastNotRevoked = Number.NEGATIVE_INFINITY;
  let onChange = () => {};

  const ask = () => {
    if (underWay >= MOST_UNDER_WAY) return false;
    underWay++;
    asker.ask(question, ({ outcome, sentMs: askedMs, arrivedMs }) => {
      underWay--;
      count(answers, outcome);
      if (outcome === 'good') bounds.good(Number(askedMs));
      if (outcome === 'good' || outcome === 'unknown') {
        lastNotRevoked = Math.max(lastNotRevoked, Number(askedMs));
      }
      if (outcome === 'revoked') {
        bounds.revoked(arrivedMs);
        poller.stop();
      }
      onChange();
    });
    return true;
  };
  const phase = uniform(plan.seed, certificate * nodes.length + number, PHASE_STREAM);
  const poller = startPoller({
    firstMs: sentMs + phase * plan.pollMs,
    everyMs: plan.pollMs,
    clock,
    ask,
    counts,
    onLag,
  });

  /** @returns {Promise<void>} when what was asked is answered: an earlier poll may still say good */
  function end() {
    poller.stop();
    return new Promise((resolve) => {
      onChange = () => underWay === 0 && resolve();
      onChange();
    });
  }

  return {
    end,
    /**
     * @param {number} answeredMs when the revocation was
     * @returns {Promise<import('./certificate.js').NodeRow>}
     */
    async until(answeredMs) {
      const giveUpMs = answeredMs + plan.giveUpMs;
      /** @type {any} */
      let timer;
      let onStop = () => {};
      let isGivenUp = false;
      await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
        const giveUp = () => {
          isGivenUp = true;
          resolve();
        };
        timer = clock.setTimer(giveUp, Math.max(0, giveUpMs - clock.now()));
        onStop = () => resolve();
        stop.addEventListener('abort', onStop);
        onChange = () => bounds.isRevoked && resolve();
        onChange();
        if (stop.aborted) resolve();
      });
      clock.clearTimer(timer);
      stop.removeEventListener('abort', onStop);
      await end();
      const interval = bounds.interval(sentMs);
      if (interval !== null) return { outcome: 'revoked', interval };
      if (!isGivenUp) return { outcome: 'undecided', interval: null };
      // Of a node that has been silent for long nobody knows what it would have said in the end.
      const recentMs = giveUpMs - Math.max(RECENT_POLLS * plan.pollMs, plan.timeoutMs);
      const isKnown = lastNotRevoked >= Math.max(answeredMs, recentMs);
      return { outcome: isKnown ? 'never_revoked' : 'never_answered', interval: null };
    },
  };
}

/**
 * @param {Record<string, number>} counts
 * @param {string} name
 */
function count(counts, name) {
  counts[name] = (counts[name] ?? 0) + 1;
}
