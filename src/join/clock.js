/** The leader's monotonic clock in a member's time, as NTP does it: of several exchanges, the quickest tells the most. */

/** Exchanges that count: clocks drift by up to 0.1 ms a second. */
const MAX_EXCHANGES = 16;

/** @returns {number} ms on this process's monotonic clock, that of `process.hrtime` */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

export function createClock() {
  /** @type {{roundTripMs: number, aheadMs: number}[]} */
  const exchanges = [];
  const best = () => exchanges.reduce((a, b) => (b.roundTripMs < a.roundTripMs ? b : a));
  return {
    /**
     * An exchange: a question, and the leader's time in its reply.
     * @param {number} sentMs @param {number} leaderMs by the leader's clock @param {number} receivedMs
     */
    add(sentMs, leaderMs, receivedMs) {
      const roundTripMs = receivedMs - sentMs;
      exchanges.push({ roundTripMs, aheadMs: leaderMs - (sentMs + receivedMs) / 2 });
      if (exchanges.length > MAX_EXCHANGES) exchanges.shift();
    },
    /** After the first exchange. @param {number} leaderMs @returns {number} by this process's clock; wrong by at most half the round trip */
    toLocal: (leaderMs) => leaderMs - best().aheadMs,
    /** Of the quickest exchange. */
    roundTripMs: () => best().roundTripMs,
  };
}
