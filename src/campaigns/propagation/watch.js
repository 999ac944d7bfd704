/** One certificate at one node: looked at once, or polled until it is revoked, given up or interrupted. */
import { uniform } from '../../common/random.js';

/** @import { Question } from './asker.js' */
/** @import { Circumstances, NodeRow, NodeWatch } from './certificate.js' */

/** Keeps the phases of polling apart from what else is drawn from a seed. */
const PHASE_STREAM = 31;

/**
 * Polls of one certificate that may wait for a slow node at once. Each certificate has its own, so that none is in another's way: what
 * this program leaves out is no fault of the target.
 */
export const MOST_UNDER_WAY = 16;

/** The last polls of a node, so many or within --timeout, give its final status when it is given up. */
const RECENT_POLLS = 10;

/** @param {NodeWatch} node @param {Question} question @returns {Promise<string>} outcome */
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
 * @param {NodeWatch} node
 * @param {number} number of the node
 * @param {{certificate: number, question: Question, sentMs: number}} subject
 * @param {Circumstances} circumstances
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

  /** @returns {Promise<void>} when the polls in flight are answered: an earlier one may still report good */
  function end() {
    poller.stop();
    return new Promise((resolve) => {
      onChange = () => underWay === 0 && resolve();
      onChange();
    });
  }

  return {
    end,
    /** @param {number} answeredMs when the revocation was @returns {Promise<NodeRow>} */
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
      // A node that was silent for long may have changed its status unseen.
      const recentMs = giveUpMs - Math.max(RECENT_POLLS * plan.pollMs, plan.timeoutMs);
      const isKnown = lastNotRevoked >= Math.max(answeredMs, recentMs);
      return { outcome: isKnown ? 'never_revoked' : 'never_answered', interval: null };
    },
  };
}

/** @param {Record<string, number>} counts @param {string} name */
function count(counts, name) {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** @typedef {(callback: () => void, ms: number) => any} SetTimer */
/**
 * @typedef {object} PollCounts of a whole run
 * @property {number} sent
 * @property {number} missed this program was late, and the next was due already
 * @property {number} skipped too many earlier ones waited for answers
 */
/**
 * @typedef {object} PollClock
 * @property {() => number} now ms, monotonic
 * @property {SetTimer} setTimer
 * @property {(timer: any) => void} clearTimer
 */

/**
 * @param {object} options
 * @param {number} options.firstMs when the first is due
 * @param {number} options.everyMs
 * @param {PollClock} options.clock
 * @param {() => boolean} options.ask false: it was left out, since too many wait for answers
 * @param {PollCounts} options.counts added to
 * @param {(ms: number) => void} options.onLag how late a poll was
 * @returns {{stop: () => void}} after which nothing is asked any more
 */
export function startPoller({ firstMs, everyMs, clock, ask, counts, onLag }) {
  let next = 0;
  let stopped = false;
  /** @type {any} */
  let timer;

  const dueAt = (/** @type {number} */ index) => firstMs + index * everyMs;

  function tick() {
    if (stopped) return;
    const now = clock.now();
    if (now >= dueAt(next)) poll(now);
    // A failure there and then may have stopped it.
    if (stopped) return;
    // A timer may ring a little early: then it is set again.
    timer = clock.setTimer(tick, Math.max(0, dueAt(next) - clock.now()));
  }

  /** @param {number} now */
  function poll(now) {
    const latest = Math.max(next, Math.floor((now - firstMs) / everyMs));
    onLag(now - dueAt(next));
    counts.missed += latest - next;
    next = latest + 1;
    if (ask()) counts.sent++;
    else counts.skipped++;
  }

  timer = clock.setTimer(tick, Math.max(0, firstMs - clock.now()));
  return {
    stop() {
      stopped = true;
      clock.clearTimer(timer);
    },
  };
}

/** @typedef {{lowerMs: number, upperMs: number}} Interval */

export function createBounds() {
  let lastGoodSent = Number.NEGATIVE_INFINITY;
  let firstRevoked = Number.POSITIVE_INFINITY;
  return {
    /** @param {number} sentMs */
    good(sentMs) {
      lastGoodSent = Math.max(lastGoodSent, sentMs);
    },
    /** @param {number} arrivedMs */
    revoked(arrivedMs) {
      firstRevoked = Math.min(firstRevoked, arrivedMs);
    },
    get isRevoked() {
      return firstRevoked !== Number.POSITIVE_INFINITY;
    },
    /**
     * @param {number} askedForMs when the revocation was sent
     * @returns {Interval | null} from `askedForMs`; null: no response reported revoked
     */
    interval(askedForMs) {
      if (firstRevoked === Number.POSITIVE_INFINITY) return null;
      return {
        lowerMs: Math.max(0, lastGoodSent - askedForMs),
        upperMs: firstRevoked - askedForMs,
      };
    },
  };
}

/**
 * Until the last of several nodes: the revocation is in effect everywhere after the latest lower bound and before the latest
 * upper bound.
 *
 * @param {readonly Interval[]} intervals at least one
 * @returns {Interval}
 */
export function everywhere(intervals) {
  return {
    lowerMs: Math.max(...intervals.map(({ lowerMs }) => lowerMs)),
    upperMs: Math.max(...intervals.map(({ upperMs }) => upperMs)),
  };
}

/**
 * @param {Interval} interval from when the revocation was asked for
 * @param {number} answeredMs when it was answered, from then too
 * @returns {Interval} from the answer on; below zero: before it
 */
export function sinceAnswer({ lowerMs, upperMs }, answeredMs) {
  return { lowerMs: lowerMs - answeredMs, upperMs: upperMs - answeredMs };
}
