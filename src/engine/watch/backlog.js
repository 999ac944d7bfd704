/**
 * What a sending thread sees of its backlog: requests that are due and not answered, whether they wait for a free connection
 * here or in a queue of the target's. Looked at a few times a second, over the time in which requests become due.
 */

/**
 * @typedef {object} BacklogEnd plain
 * @property {number} looks
 * @property {number} waitingLooks looks that found somebody waiting for a connection
 * @property {(number | null)[]} quarterMins the fewest that were due and not answered in each quarter of the time; null:
 *   nobody looked
 * @property {number} atEnd as many were at the last look
 */

const QUARTERS = 4;

/**
 * @param {number} fromMs from when on the rate does not rise: with it rises what is under way
 * @param {number} toMs when the last request is due
 */
export function watchBacklog(fromMs, toMs) {
  /** @type {BacklogEnd} */
  const seen = { looks: 0, waitingLooks: 0, quarterMins: Array(QUARTERS).fill(null), atEnd: 0 };
  return {
    /** @param {number} nowMs @param {number} waiting for a connection @param {number} inFlight */
    look(nowMs, waiting, inFlight) {
      if (nowMs < fromMs || nowMs >= toMs) return;
      seen.looks++;
      if (waiting > 0) seen.waitingLooks++;
      seen.atEnd = waiting + inFlight;
      const quarter = Math.floor((QUARTERS * (nowMs - fromMs)) / (toMs - fromMs));
      seen.quarterMins[quarter] = Math.min(seen.quarterMins[quarter] ?? Number.POSITIVE_INFINITY, seen.atEnd);
    },
    /** @returns {BacklogEnd} */
    end: () => seen,
  };
}

/**
 * @param {BacklogEnd[]} parts of the shards of one run
 * @returns {BacklogEnd}
 */
export function mergeBacklogs(parts) {
  const sum = (/** @type {(part: BacklogEnd) => number} */ of) =>
    parts.reduce((all, part) => all + of(part), 0);
  const quarterMins = Array.from({ length: QUARTERS }, (_, quarter) =>
    parts.every((part) => part.quarterMins[quarter] !== null)
      ? sum((part) => Number(part.quarterMins[quarter]))
      : null,
  );
  return {
    looks: sum(({ looks }) => looks),
    waitingLooks: sum(({ waitingLooks }) => waitingLooks),
    quarterMins,
    atEnd: sum(({ atEnd }) => atEnd),
  };
}
