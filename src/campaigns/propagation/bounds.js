/**
 * When a revocation took effect at a node, as the interval that the node's answers leave. All times are of one monotonic clock, ms.
 *
 * - An answer `good` was produced after its request was sent: the revocation took effect after that. When exactly the answer was
 *   produced cannot be seen from here, so the sending is what bounds it; the moment the answer arrived would not.
 * - An answer `revoked` was produced before it arrived: the revocation took effect before that.
 * - It took effect after the revocation was asked for.
 *
 * So it lies in (max(asked for, latest sending that was answered good), first arrival of revoked]. Polls overtake one another:
 * what bounds is the sending that was latest, not the answer that came last.
 */

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
     * @returns {Interval | null} from `askedForMs`; null: no answer said revoked
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
