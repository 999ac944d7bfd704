/** A clock that goes on only when it is told to, for what waits by timers and promises. */
import { setImmediate as settled } from 'node:timers/promises';

export function createFakeTime() {
  let now = 0;
  let numbers = 0;
  /** @type {{number: number, at: number, callback: () => void}[]} */
  let timers = [];

  /** @param {number} ms on the clock */
  async function until(ms) {
    for (;;) {
      // Promises first: what they bring about may set timers.
      await settled();
      timers.sort((a, b) => a.at - b.at || a.number - b.number);
      const [next] = timers;
      if (next === undefined || next.at > ms) break;
      timers.shift();
      now = Math.max(now, next.at);
      next.callback();
    }
    now = Math.max(now, ms);
  }

  return {
    now: () => now,
    /** @param {() => void} callback @param {number} ms @returns {number} */
    setTimer(callback, ms) {
      timers.push({ number: ++numbers, at: now + ms, callback });
      return numbers;
    },
    /** @param {number} number */
    clearTimer(number) {
      timers = timers.filter((timer) => timer.number !== number);
    },
    /** The process hangs: timers are late. @param {number} ms */
    stall(ms) {
      now += ms;
    },
    until,
    /** @returns {Promise<unknown>} when a promise of this time has been kept @param {Promise<unknown>} promise @param {number} [mostMs] */
    async runTo(promise, mostMs = 1e6) {
      let over = false;
      promise.then(
        () => {
          over = true;
        },
        () => {
          over = true;
        },
      );
      await settled();
      while (!over && now < mostMs) {
        const next = Math.min(...timers.map(({ at }) => at), Number.POSITIVE_INFINITY);
        if (next === Number.POSITIVE_INFINITY) throw new Error('nothing is waited for');
        await until(next);
        await settled();
      }
      if (!over) throw new Error(`not kept after ${mostMs} ms`);
      return promise;
    },
    /** @returns {number} timers that are set */
    waiting: () => timers.length,
  };
}
