/**
 * A slot is one connection with one request in flight at most; there are `concurrency` of them. It takes the
 * three times of every request and keeps its deadline. Deadlines are our own: an HTTP client's resolve to
 * half a second.
 */
/** @import { Connection, Exchange, Request } from '../http/exchange.js' */
/** @import { Clock } from './clock.js' */
/** @import { Sample } from './recording/ring.js' */
/** @import { watchReading } from './watch/sender.js' */

/** @typedef {ReturnType<typeof createSlots>} Slots */
/**
 * @typedef {object} Slot times in ms
 * @property {number} index
 * @property {number} intended
 * @property {number} handed when this slot took the request
 * @property {number} sent NaN until it is on the wire
 * @property {number} freeSince
 * @property {number} dueToStart when this request would have been handed over had the tool never been late
 * @property {number} wouldBeFree when the slot would be free then; a slow target moves it, a late tool does
 *   not
 * @property {boolean} busy
 * @property {number} awakeMs see watch/sender.js
 * @property {boolean} dialled its connection had to be opened first
 * @property {Connection} connection
 * @property {Exchange} exchange
 */
/** After a failed connect a closed loop rests its slot this long, doubling up to the second figure. */
const [FIRST_REST_MS, LONGEST_REST_MS] = [20, 1000];

/**
 * @param {Slot} slot
 * @returns {number} ms: when its request was on the wire; where its connection had to be opened first, or it
 *   never got there, when the slot took it
 */
function startOf({ dialled, sent, handed }) {
  return dialled || Number.isNaN(sent) ? handed : sent;
}

/**
 * @param {object} context @param {Clock} context.clock @param {Connection[]} context.connections
 * @param {(index: number) => Request} context.request @param {number} context.timeoutMs
 * @param {boolean} context.restAfterFailedConnect
 * @param {(slot: Slot, sample: Sample) => void} context.onDone `operation` is not set yet
 * @param {() => void} context.onFree after every `onDone`
 * @param {ReturnType<typeof watchReading>} [context.reading] without it, responses count as read when they
 *   came
 * @param {(next: () => void) => void} [context.afterPoll] calls back once what has arrived on the sockets is
 *   read
 */
export function createSlots({
  clock,
  connections,
  request,
  timeoutMs,
  restAfterFailedConnect,
  onDone,
  onFree,
  reading = { now: () => 0, onSent: () => 0, lateMs: () => 0 },
  afterPoll = setImmediate,
}) {
  const slots = connections.map((connection) => createSlot(connection));
  /** Longest idle first, so that no connection goes stale. */
  const free = [...slots];
  let resting = 0;
  const served = { count: 0, ms: 0 };

  /** @param {Connection} connection */
  function createSlot(connection) {
    let failedConnects = 0;
    /** @type {Slot} */
    const slot = {
      index: -1,
      intended: 0,
      handed: 0,
      sent: Number.NaN,
      freeSince: Number.NEGATIVE_INFINITY,
      dueToStart: 0,
      wouldBeFree: Number.NEGATIVE_INFINITY,
      awakeMs: 0,
      busy: false,
      dialled: false,
      connection,
      exchange: {
        onDial() {
          slot.dialled = true;
        },
        onSent() {
          slot.sent = clock();
        },
        onAnswer(status, body) {
          failedConnects = 0;
          finish(slot, clock(), reading.lateMs(slot.awakeMs), null, status, body);
        },
        onFailure(failure, beforeSent) {
          const rests = beforeSent && restAfterFailedConnect;
          const restMs = rests ? Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** failedConnects++) : 0;
          finish(slot, clock(), reading.lateMs(slot.awakeMs), failure, 0, null, restMs);
        },
      },
    };
    return slot;
  }

  /**
   * @param {Slot} slot @param {number} done @param {number} readLate @param {string | null} failure
   * @param {number} [status] @param {Uint8Array | null} [body] @param {number} [restMs]
   */
  function finish(slot, done, readLate, failure, status = 0, body = null, restMs = 0) {
    slot.busy = false;
    const { index, intended, dueToStart } = slot;
    const startMs = startOf(slot);
    const couldStart = Math.max(intended, slot.freeSince);
    // A response cannot have come before its request was sent.
    const late = Math.min(readLate, done - startMs);
    const servedMs = done - late - startMs;
    slot.wouldBeFree = dueToStart + servedMs + restMs;
    served.count++;
    served.ms += servedMs;
    onDone(slot, {
      operation: 0,
      index,
      intended,
      sent: Number.isNaN(slot.sent) ? slot.handed : slot.sent,
      done,
      lag: startMs - couldStart,
      carried: couldStart - dueToStart,
      late,
      failure,
      status,
      body,
    });
    if (restMs === 0) return release(slot);
    resting++;
    setTimeout(() => {
      resting--;
      release(slot);
    }, restMs);
  }

  /** @param {Slot} slot */
  function release(slot) {
    slot.freeSince = clock();
    free.push(slot);
    onFree();
  }

  /** @param {Slot} slot @param {number} now */
  function isOverdue(slot, now) {
    return slot.busy && now - slot.handed >= timeoutMs;
  }

  /** @param {Slot} slot @param {number} done @param {number} late @param {string} failure */
  function giveUp(slot, done, late, failure) {
    slot.connection.abort();
    finish(slot, done, late, failure);
  }

  function giveUpOverdue() {
    const now = clock();
    for (const slot of slots) {
      if (isOverdue(slot, now)) giveUp(slot, now, now - slot.handed - timeoutMs, 'timeout');
    }
  }

  return {
    /**
     * Busy connections would have been free earlier had the tool never been late: how many more requests they
     * could have served, at most, and how much longer the next one waits.
     */
    get forgone() {
      const lostMs = slots.reduce((sum, slot) => sum + (slot.busy ? startOf(slot) - slot.dueToStart : 0), 0);
      return {
        count: served.ms > 0 ? Math.ceil((lostMs * served.count) / served.ms) : 0,
        carriedMs: lostMs / slots.length,
      };
    },
    get free() {
      return free.length;
    },
    get busy() {
      return slots.length - free.length - resting;
    },
    /** Since when the next slot has been free, ms. */
    get nextFreeSince() {
      return free[0].freeSince;
    },
    /** Through the slot idle longest: one must be free. @param {number} index @param {number} intended ms */
    fire(index, intended) {
      const slot = /** @type {Slot} */ (free.shift());
      slot.index = index;
      slot.intended = intended;
      slot.sent = Number.NaN;
      slot.busy = true;
      slot.dialled = false;
      slot.dueToStart = Math.max(intended, slot.wouldBeFree);
      slot.handed = clock();
      const beforeMs = reading.now();
      slot.connection.send(request(index), slot.exchange);
      // A request that failed at once has given its slot to another.
      if (slot.busy && slot.index === index) slot.awakeMs = reading.onSent(beforeMs);
    },
    /**
     * Gives up on requests in flight for longer than the time-out, with the age they reached. To be called
     * from a timer every 10 ms. Timers fire before sockets are polled, and after a stall responses may lie
     * there.
     */
    expire() {
      const now = clock();
      if (slots.some((slot) => isOverdue(slot, now))) afterPoll(giveUpOverdue);
    },
    /** Gives up on all requests in flight. */
    cutOff() {
      const now = clock();
      for (const slot of slots) if (slot.busy) giveUp(slot, now, 0, 'cut_off');
    },
  };
}
