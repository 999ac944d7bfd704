/** Time that passes only when a test says so, and things that happen in it. */
/** @import { Clock } from '../../src/engine/clock.js' */
/** @import { Alarm } from '../../src/engine/pacing/alarm.js' */

/** @param {number} [startMs] */
export function createVirtualTime(startMs = 0) {
  let now = startMs;
  let ordinal = 0;
  /** @type {{at: number, ordinal: number, happen: () => void}[]} */
  const events = [];

  /** @param {number} at @param {() => void} happen */
  function add(at, happen) {
    const event = { at: Math.max(at, now), ordinal: ordinal++, happen };
    events.push(event);
    return event;
  }
  /** @param {number} untilMs @returns what happens next until then, taken out */
  function takeNext(untilMs) {
    let first = -1;
    for (const [i, { at, ordinal }] of events.entries()) {
      if (at > untilMs) continue;
      const best = events[first];
      if (first < 0 || at < best.at || (at === best.at && ordinal < best.ordinal)) first = i;
    }
    return first < 0 ? undefined : events.splice(first, 1)[0];
  }
  return {
    clock: () => now,
    add,
    /** Lets time pass, in order and without gaps. @param {number} untilMs */
    runUntil(untilMs) {
      for (let event = takeNext(untilMs); event !== undefined; event = takeNext(untilMs)) {
        now = event.at;
        event.happen();
      }
      now = Math.max(now, untilMs);
    },
    /** Time passes, and nothing gets a turn: a blocked event loop. @param {number} ms */
    block(ms) {
      now += ms;
    },
    /** @type {(clock: Clock, onTime: () => void) => Alarm} */
    createAlarm(_clock, onTime) {
      /** @type {ReturnType<typeof add> | null} */
      let pending = null;
      const clear = () => {
        const at = pending === null ? -1 : events.indexOf(pending);
        if (at >= 0) events.splice(at, 1);
        pending = null;
      };
      return {
        clear,
        set(atMs) {
          clear();
          if (atMs !== Number.POSITIVE_INFINITY) pending = add(atMs, onTime);
        },
      };
    },
    get pending() {
      return events.length;
    },
  };
}
