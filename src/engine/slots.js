/**
 * A slot is one of `concurrency` connections, with at most one request in flight. It takes the three timestamps of
 * each of its requests and enforces their deadline to within 10 ms.
 */
import { LARGE_BODY_BYTES, LARGE_RESPONSE_BYTES } from '../http/exchange.js';

/** @import { Connection, Exchange, Request } from '../http/exchange.js' */
/** @import { Clock } from './clock.js' */
/** @import { Sample } from './recording/ring.js' */
/** @import { watchReading } from './watch/sender.js' */

/**
 * After this time without a request, a connection is used only if no fresher one is free: the server may be closing it. Node.js and Apache
 * wait for 5 s, Vault 10 s for the first request.
 */
const FRESH_MS = 4000;

/** Backoff of a slot in a closed loop after a failed connect, doubling up to the maximum. */
const [MIN_BACKOFF_MS, MAX_BACKOFF_MS] = [20, 1000];

/** @typedef {ReturnType<typeof createSlots>} Slots */
/** @typedef {ReturnType<typeof createSlot>} Slot */
/**
 * Times in ms: NaN until they are known, as V8 would discard compiled code if a fraction followed after an integer.
 * @param {Connection} connection
 */
function createSlot(connection) {
  return {
    index: -1,
    intended: Number.NaN,
    /** When this slot took the request. */
    handed: Number.NaN,
    /** NaN until the request is on the wire. */
    sent: Number.NaN,
    /** NaN if not dialled, or without TLS. */
    connected: Number.NaN,
    /** NaN unless the response arrives in parts. */
    firstBytes: Number.NaN,
    /** Since time zero, unless it has had a request. */
    freeSince: 0,
    /** When the request was due and a slot was free. */
    couldStart: Number.NaN,
    /** When a tool that is never late would have handed this request over. */
    dueToStart: Number.NaN,
    /** When such a tool's slot would be free; only a slow target delays it. */
    wouldBeFree: Number.NEGATIVE_INFINITY,
    /** See watch/sender.js. */
    awakeMs: 0,
    isBusy: false,
    /** While it is handed to its connection, which may send or refuse it meanwhile. */
    isBeingHanded: false,
    /** The request had to open its connection first. */
    connectedFirst: false,
    /** See openingLate; once the connection is open. */
    openedLateMs: Number.NaN,
    /** A request that is large, or waits for the target's flow control, is not yet written. */
    isWriting: false,
    /** How late the tool was, at most, until such a request was written. */
    writtenLateMs: Number.NaN,
    /** How late the tool was, at most, until the first part of the response. */
    firstLateMs: Number.NaN,
    /** See watch/sender.js; at that part. */
    firstAwakeMs: Number.NaN,
    /** Time in which the tool had stood still when this slot took the request; and when it was on the wire. */
    handedUnreadMs: Number.NaN,
    unreadMs: Number.NaN,
    connection,
  };
}

/**
 * @param {Slot} slot
 * @returns {number} ms: when the request was on the wire; if it had to open a connection first or was never
 *   sent, when the slot took it
 */
const startOf = ({ connectedFirst, sent, handed }) => (connectedFirst || Number.isNaN(sent) ? handed : sent);

/** On a connection that is open. @param {Slot} slot */
const isBeingWritten = ({ isWriting, sent }) => isWriting && !Number.isNaN(sent);

/** @param {Request} request */
const isLarge = ({ body }) =>
  body !== null && 3 * body.length > LARGE_BODY_BYTES && Buffer.byteLength(body) > LARGE_BODY_BYTES;

/**
 * @param {object} context @param {Clock} context.clock @param {Connection[]} context.connections
 * @param {(index: number) => Request} context.request @param {number} context.timeoutMs
 * @param {boolean} context.backOffAfterFailedConnect
 * @param {boolean} [context.rotates] all connections take part, however long they were idle: they differ in their addresses or certificates
 * @param {(slot: Slot, sample: Sample, backoffMs: number) => void} context.onDone `operation` is not set yet; `backoffMs`: the slot rests
 * @param {() => void} context.onFree after every `onDone`
 * @param {Omit<ReturnType<typeof watchReading>, 'onStop'>} [context.reading] without it, responses count as read on arrival
 * @param {() => number} [context.unreadMs] time so far in which this thread stood still, and read nothing
 * @param {(next: () => void) => void} [context.afterPoll] calls back once the sockets have been polled
 */
export function createSlots({
  clock,
  connections,
  request,
  timeoutMs,
  backOffAfterFailedConnect,
  rotates = false,
  onDone,
  onFree,
  reading = { now: () => 0, onSent: () => 0, lateMs: () => 0, openingLateMs: () => 0, awakeSince: () => 0 },
  unreadMs = () => 0,
  afterPoll = setImmediate,
}) {
  const slots = connections.map((connection) => {
    const slot = createSlot(connection);
    return Object.assign(slot, { exchange: createExchange(slot) });
  });
  const freshMs = rotates ? Number.POSITIVE_INFINITY : FRESH_MS;
  /** Idle for longest first, so that all are used. */
  const free = [...slots];
  /** Free and open, but no longer fresh: after requests, idle for longest first, and before the first, in the order of opening. */
  const [stale, unused] = /** @type {[typeof slots, typeof slots]} */ ([[], []]);
  /** Free and no longer fresh, but their connection was not open when last checked. @type {typeof slots} */
  const closed = [];
  const countFree = () => free.length + stale.length + unused.length + closed.length;
  const sinceOf = (/** @type {Slot | undefined} */ slot) => slot?.freeSince ?? Number.POSITIVE_INFINITY;
  const freeSince = () =>
    Math.min(sinceOf(free[0]), sinceOf(stale[0]), sinceOf(unused[0]), sinceOf(closed[0]));
  const take = (/** @type {typeof slots[number] | undefined} */ slot) =>
    /** @type {typeof slots[number]} */ (slot);
  let backingOff = 0;
  const served = { count: 0, ms: 0 };

  /**
   * A free slot: the longest idle of the fresh, else the freshest, else one that has had no request; last, one that must connect. One that had none
   * is also used before a fresh one that must connect: `openssl ocsp` serves its connections in the order of opening.
   */
  function takeFree() {
    const now = clock();
    const isOpen = (/** @type {Slot | undefined} */ slot) => slot?.connection.isOpen() ?? true;
    const fresh = free.findIndex(({ freeSince }) => now - freeSince < freshMs);
    // At once: there may be 10,000.
    for (const slot of free.splice(0, fresh < 0 ? free.length : fresh))
      (isOpen(slot) ? (slot.index < 0 ? unused : stale) : closed).push(slot);
    const isReady = free.length > 0 && isOpen(free[0]);
    while (!isReady && !isOpen(unused[0])) closed.push(take(unused.shift()));
    if (free.length > 0) return take(isReady || unused.length === 0 ? free.shift() : unused.shift());
    while (!isOpen(stale.at(-1))) closed.push(take(stale.pop()));
    return take(stale.pop() ?? unused.shift() ?? closed.shift());
  }

  /** @param {Slot} slot @returns {Exchange} */
  function createExchange(slot) {
    let failedConnects = 0;
    return {
      onConnect() {
        slot.connectedFirst = true;
      },
      onConnected() {
        slot.connected = clock();
      },
      onSent() {
        slot.sent = clock();
        if (slot.isBeingHanded) return;
        if (slot.connectedFirst)
          slot.openedLateMs = reading.openingLateMs(slot.awakeMs, slot.sent - slot.handed);
        slot.awakeMs = reading.onSent(reading.now());
        slot.unreadMs = unreadMs();
      },
      onHeldBack() {
        slot.isWriting = true;
      },
      onWritten() {
        if (!slot.isWriting) return;
        clock();
        slot.isWriting = false;
        slot.writtenLateMs = reading.awakeSince(slot.awakeMs);
        slot.awakeMs = reading.onSent(reading.now());
        slot.unreadMs = unreadMs();
      },
      onFirstBytes() {
        const now = clock();
        slot.firstLateMs = lateUntilNow(slot);
        slot.firstAwakeMs = reading.onSent(reading.now());
        slot.firstBytes = now;
      },
      onResponse(status, body, mayHaveWaited = false) {
        failedConnects = 0;
        const now = clock();
        const slowed = body.length > LARGE_RESPONSE_BYTES ? slowedMs(slot) : 0;
        const waited = mayHaveWaited ? writtenLate(slot) + reading.awakeSince(slot.awakeMs) : 0;
        finish(slot, now, Math.max(slowed, waited, lateUntilNow(slot)), null, status, body);
      },
      onFailure(failure, beforeSent) {
        const backsOff = beforeSent && backOffAfterFailedConnect;
        const backoffMs = backsOff ? Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failedConnects++) : 0;
        const now = clock();
        finish(slot, now, failedLate(slot), failure, 0, null, backoffMs);
      },
    };
  }

  /** @param {Slot} slot @returns {number} ms, upper bound: how late the tool read what opens the connection, so far */
  function openingLate({ connectedFirst, sent, openedLateMs, awakeMs, handed }) {
    if (!connectedFirst) return 0;
    return Number.isNaN(sent) ? reading.openingLateMs(awakeMs, clock() - handed) : openedLateMs;
  }

  /** @param {Slot} slot @returns {number} ms, upper bound: how late the tool was until the request was written */
  const writtenLate = (slot) => openingLate(slot) + slot.writtenLateMs;

  /** @param {Slot} slot @returns {number} ms, upper bound: how late the tool was in writing the request, and in reading what has arrived */
  function lateUntilNow(slot) {
    if (isBeingWritten(slot)) return slowedMs(slot);
    return writtenLate(slot) + reading.lateMs(slot.awakeMs);
  }

  /** @param {Slot} slot @returns {number} ms, upper bound: how much longer the server took because the tool was late */
  function slowedMs(slot) {
    if (!Number.isNaN(slot.firstBytes)) return slot.firstLateMs + reading.awakeSince(slot.firstAwakeMs);
    const writingMs = isBeingWritten(slot) ? reading.awakeSince(slot.awakeMs) : 0;
    return writtenLate(slot) + writingMs;
  }

  /** @param {Slot} slot @returns {number} ms, upper bound: how late the tool was, for a request without a response, or with one of unknown size */
  const failedLate = (slot) => Math.max(slowedMs(slot), lateUntilNow(slot));

  /** @param {Slot} slot @returns {number} ms by which its timeout is longer: also until it is on the wire; while a response arrives, only if the tool stood still */
  function prolongedMs(slot) {
    // On an open connection, it waited only until the tool had read what had arrived.
    const { connectedFirst, sent, handed } = slot;
    const unsentMs = connectedFirst ? 0 : (Number.isNaN(sent) ? clock() : sent) - handed;
    if (Number.isNaN(slot.firstBytes)) return unsentMs + slowedMs(slot);
    return unsentMs + writtenLate(slot) + unreadMs() - slot.unreadMs;
  }

  /**
   * @param {Slot} slot @param {number} done @param {number} readLate @param {string | null} failure
   * @param {number} [status] @param {Uint8Array | null} [body] @param {number} [backoffMs]
   */
  function finish(slot, done, readLate, failure, status = 0, body = null, backoffMs = 0) {
    slot.isBusy = false;
    const { index, intended, couldStart, dueToStart } = slot;
    const startMs = startOf(slot);
    // A response cannot arrive before its request is sent.
    const late = Math.min(readLate, done - startMs);
    const servedMs = done - late - startMs;
    const { connectedFirst, handed, connected, sent, firstBytes } = slot;
    const isTls = !Number.isNaN(connected);
    const isWhole = Number.isNaN(firstBytes);
    slot.wouldBeFree = dueToStart + servedMs + backoffMs;
    served.count++;
    served.ms += servedMs;
    const sample = {
      operation: 0,
      index,
      intended,
      sent: startMs,
      done,
      connect: connectedFirst ? (isTls ? connected : sent) - handed : 0,
      tls: connectedFirst && isTls ? sent - connected : 0,
      firstByte: (isWhole ? done : firstBytes) - sent,
      transfer: isWhole ? 0 : done - firstBytes,
      receivedAt: Date.now(),
      sendLateMs: startMs - couldStart,
      carriedMs: couldStart - dueToStart,
      readLateMs: late,
      failure,
      status,
      body,
    };
    onDone(slot, sample, backoffMs);
    if (backoffMs === 0) return release(slot);
    backingOff++;
    setTimeout(() => {
      backingOff--;
      release(slot);
    }, backoffMs);
  }

  /** @param {Slot} slot */
  function release(slot) {
    slot.freeSince = clock();
    free.push(/** @type {typeof slots[number]} */ (slot));
    onFree();
  }

  /** @param {Slot} slot @param {number} now */
  const isOverdue = (slot, now) => slot.isBusy && now - slot.handed >= timeoutMs;

  /** @param {Slot} slot @param {number} done @param {number} late @param {string} failure */
  function giveUp(slot, done, late, failure) {
    const stuck = slot.connection.abort();
    finish(slot, done, late, failure === 'timeout' ? (stuck ?? failure) : failure);
  }

  /** A request that the tool itself delayed has that much more time: at most as much again, and the time in which it stood still. */
  function giveUpOverdue() {
    const now = clock();
    for (const slot of slots) {
      if (!isOverdue(slot, now)) continue;
      const mostMs = timeoutMs + unreadMs() - slot.handedUnreadMs;
      const longerMs = prolongedMs(slot);
      if (!isOverdue(slot, now - Math.min(mostMs, longerMs))) continue;
      const failure = longerMs > mostMs ? 'tool_late' : 'timeout';
      giveUp(slot, now, Math.max(now - startOf(slot) - timeoutMs, slowedMs(slot)), failure);
    }
  }

  return {
    /**
     * The tool's lateness keeps busy connections occupied for longer, and leaves free ones unused. `count`: upper bound of the requests that
     * they could have served in that time; `carriedMs`: how much longer the next request waits.
     * @param {number} dueMs of the next request @param {number} now
     */
    forgone(dueMs, now) {
      const standingMs = unreadMs();
      const lateMs = (/** @type {Slot} */ slot) =>
        slot.isBusy
          ? startOf(slot) - slot.dueToStart + standingMs - slot.handedUnreadMs
          : Math.max(0, now - Math.max(dueMs, slot.wouldBeFree));
      const lostMs = slots.reduce((ms, slot) => ms + lateMs(slot), 0);
      return {
        count: served.ms > 0 ? Math.ceil((lostMs * served.count) / served.ms) : 0,
        carriedMs: lostMs / slots.length,
      };
    },
    /** Slots that become free in so many ms, on average, if all are busy. @param {number} ms */
    freedIn: (ms) =>
      served.ms > 0 ? (ms * slots.length * served.count) / served.ms : Number.POSITIVE_INFINITY,
    get free() {
      return countFree();
    },
    get inFlight() {
      return slots.length - countFree() - backingOff;
    },
    /** Since when a slot has been free, ms. */
    get freeSince() {
      return freeSince();
    },
    /** Call only if a slot is free. @param {number} index @param {number} intended ms */
    fire(index, intended) {
      const couldStart = Math.max(intended, freeSince());
      const slot = takeFree();
      slot.index = index;
      slot.intended = intended;
      slot.sent = Number.NaN;
      slot.connected = Number.NaN;
      slot.firstBytes = Number.NaN;
      slot.isBusy = true;
      slot.connectedFirst = false;
      slot.isBeingHanded = true;
      slot.openedLateMs = 0;
      slot.writtenLateMs = 0;
      slot.couldStart = couldStart;
      slot.dueToStart = Math.min(couldStart, Math.max(intended, slot.wouldBeFree));
      slot.handed = clock();
      slot.handedUnreadMs = unreadMs();
      slot.unreadMs = slot.handedUnreadMs;
      const beforeMs = reading.now();
      const sending = request(index);
      slot.isWriting = isLarge(sending);
      slot.connection.send(sending, slot.exchange);
      slot.isBeingHanded = false;
      // A request that failed at once has already freed its slot for another.
      if (slot.isBusy && slot.index === index) slot.awakeMs = reading.onSent(beforeMs);
    },
    /** Times out requests in flight. Timers fire before sockets are polled: responses may be unread. */
    expire() {
      const now = clock();
      if (slots.some((slot) => isOverdue(slot, now))) afterPoll(giveUpOverdue);
    },
    /** Gives up on all requests in flight. */
    cutOff() {
      const now = clock();
      for (const slot of slots) if (slot.isBusy) giveUp(slot, now, failedLate(slot), 'cut_off');
    },
  };
}
