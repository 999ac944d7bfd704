/** Queries one node about one certificate, once or until revoked, --give-up or a stop. */
import { uniform } from '../../common/random.js';
import { minOf } from '../../common/sums.js';

/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Clock, Query, Reply, Responder } from './responder.js' */

/** Keeps poll phases independent of other random numbers from the same seed. */
const PHASE_STREAM = 31;

/** Max polls in flight per certificate and node, so that no certificate delays another. */
export const MAX_IN_FLIGHT = 16;

/** At --give-up a node's last status must come from its last 10 polls, or from within the last --timeout. */
const RECENT_POLLS = 10;

/** @typedef {Propagation['rows'][number]['nodes'][number]} NodeRow one node's statuses of one certificate */
/** @typedef {{sent: number, missed: number, skipped: number}} PollCounts
 *   `missed`: the tool was late and the next poll was already due; `skipped`: too many polls were in flight */
/** @typedef {{responder: Responder, answers: Record<string, number>, counts: PollCounts}} Node */
/**
 * Shared by all certificates. `onLag`: called for each poll; `stop`: ends the wait.
 * @typedef {{plan: PropagationPlan, nodes: Node[], clock: Clock, onLag: (ms: number) => void, stop: AbortSignal,
 *   buildQuery: (issuer: {der: Uint8Array}, serial: Uint8Array) => Query}} Run
 */

/** @param {Responder} responder @returns {Node} */
export function createNode(responder) {
  return { responder, answers: {}, counts: { sent: 0, missed: 0, skipped: 0 } };
}

/** @param {Node} node @param {Query} query @param {(reply: Reply) => void} onReply */
const queryAndCount = ({ responder, answers }, query, onReply) =>
  responder.query(query, (reply) => {
    answers[reply.outcome] = (answers[reply.outcome] ?? 0) + 1;
    onReply(reply);
  });

/** @param {Node} node @param {Query} query @returns {Promise<string>} outcome */
export const queryOnce = (node, query) =>
  new Promise((resolve) => queryAndCount(node, query, ({ outcome }) => resolve(outcome)));

/**
 * Polls from the time the revocation is sent, as it may take effect before its response. The first poll is
 * due at a random time within the first interval: a fixed phase would bias the delays.
 * @param {Run} run @param {number} number of the node
 * @param {{certificate: number, query: Query, sentMs: number}} subject
 */
export function watchNode({ plan, clock, onLag, stop, nodes }, number, { certificate, query, sentMs }) {
  const node = nodes[number];
  const bounds = createBounds();
  let [inFlight, notRevokedMs] = [0, Number.NEGATIVE_INFINITY];
  let onChange = () => {};

  const poll = () => {
    if (inFlight >= MAX_IN_FLIGHT) return false;
    inFlight++;
    queryAndCount(node, query, ({ outcome, arrivedMs, sentMs: pollSentMs }) => {
      const queriedMs = Number(pollSentMs);
      inFlight--;
      if (outcome === 'good') bounds.good(queriedMs);
      if (outcome === 'good' || outcome === 'unknown') notRevokedMs = Math.max(notRevokedMs, queriedMs);
      if (outcome === 'revoked') {
        bounds.revoked(arrivedMs);
        poller.stop();
      }
      onChange();
    });
    return true;
  };
  const phase = uniform(plan.seed, certificate * nodes.length + number, PHASE_STREAM);
  const firstMs = sentMs + phase * plan.pollMs;
  const poller = startPoller({ firstMs, everyMs: plan.pollMs, clock, poll, counts: node.counts, onLag });

  /** @returns {Promise<void>} once no poll is in flight: an earlier poll may still report good */
  function end() {
    poller.stop();
    return new Promise((resolve) => {
      onChange = () => inFlight === 0 && resolve();
      onChange();
    });
  }

  return {
    end,
    /** @param {number} respondedMs time of the response to the revocation @returns {Promise<NodeRow>} */
    async until(respondedMs) {
      const giveUpMs = respondedMs + plan.giveUpMs;
      let isGivenUp = false;
      const isOver = () => bounds.isRevoked() || stop.aborted || isGivenUp;
      do {
        // Stopped at a first revoked response, which a good one has refuted since.
        if (!isOver()) poller.resume();
        await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
          const onTime = () => {
            isGivenUp = true;
            onChange();
          };
          const timer = clock.setTimer(onTime, Math.max(0, giveUpMs - clock.now()));
          onChange = () => {
            if (!isOver()) return;
            clock.clearTimer(timer);
            stop.removeEventListener('abort', onChange);
            resolve();
          };
          stop.addEventListener('abort', onChange);
          onChange();
        });
        await end();
      } while (!isOver());
      const interval = bounds.interval(sentMs);
      if (interval !== null) return { outcome: 'revoked', interval };
      if (!isGivenUp) return { outcome: 'undecided', interval };
      // If a node has not responded for long, its last known status may be stale.
      const recentMs = giveUpMs - Math.max(RECENT_POLLS * plan.pollMs, plan.timeoutMs);
      const isKnown = notRevokedMs >= Math.max(respondedMs, recentMs);
      return { outcome: isKnown ? 'never_revoked' : 'never_answered', interval };
    },
  };
}

/**
 * @param {{firstMs: number, everyMs: number, clock: Clock, poll: () => boolean, counts: PollCounts,
 *   onLag: (ms: number) => void}} options `poll` returns false if too many are in flight
 */
export function startPoller({ firstMs, everyMs, clock, poll, counts, onLag }) {
  let [next, isStopped] = [0, false];
  /** @type {any} */
  let timer;
  const dueMs = () => firstMs + next * everyMs;
  const arm = () => {
    timer = clock.setTimer(tick, Math.max(0, dueMs() - clock.now()));
  };

  function tick() {
    const now = clock.now();
    // A timer may fire slightly early; set it again.
    if (now >= dueMs()) {
      const latest = Math.max(next, Math.floor((now - firstMs) / everyMs));
      onLag(now - dueMs());
      counts.missed += latest - next;
      next = latest + 1;
      counts[poll() ? 'sent' : 'skipped']++;
    }
    // A synchronous reply may have stopped the poller.
    if (!isStopped) arm();
  }

  arm();
  return {
    stop() {
      isStopped = true;
      clock.clearTimer(timer);
    },
    /** With the next poll that is due after a stop. */
    resume() {
      if (!isStopped) return;
      isStopped = false;
      next = Math.max(next, Math.ceil((clock.now() - firstMs) / everyMs));
      arm();
    },
  };
}

/** @typedef {{lowerMs: number, upperMs: number}} Interval */

/**
 * The revocation took effect after the last `good` query was sent, before the first reply `revoked` from then on. An
 * earlier `revoked` is from another of several nodes behind the URL: the revocation was not yet seen at all of them.
 */
export function createBounds() {
  let goodMs = Number.NEGATIVE_INFINITY;
  /** @type {number[]} */
  const arrivals = [];
  const revokedMs = () => minOf(arrivals.filter((ms) => ms >= goodMs));
  const isRevoked = () => Number.isFinite(revokedMs());
  return {
    isRevoked,
    good(/** @type {number} */ sentMs) {
      goodMs = Math.max(goodMs, sentMs);
    },
    revoked(/** @type {number} */ arrivedMs) {
      arrivals.push(arrivedMs);
    },
    /** @param {number} fromMs of the revocation @returns {Interval | null} null: no `revoked` reply that holds */
    interval: (fromMs) =>
      isRevoked() ? { lowerMs: Math.max(0, goodMs - fromMs), upperMs: revokedMs() - fromMs } : null,
  };
}
