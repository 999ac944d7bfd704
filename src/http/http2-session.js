/** An HTTP/2 connection of the load (RFC 9113) and the requests in flight on it. It never queues, retries or follows redirects. */
import { LARGE_BODY_BYTES, LARGE_RESPONSE_BYTES } from './exchange.js';
import { describeTransportError } from './failures.js';
import * as wire from './http2-frames.js';
import { MAX_BODY_BYTES, MAX_HEAD_BYTES, OWN_BUFFER_BYTES } from './response-reader.js';

/** @import { Dialled, SocketCallbacks } from './connection.js' */
/** @import { Exchange } from './exchange.js' */

const { TYPE, FLAG, CODE } = wire;

/** No accepted response is longer, so this client never raises the window of a stream. */
const STREAM_WINDOW = 2 * MAX_BODY_BYTES;
/** Raises the window of a connection, which begins at its maximum, after this much. */
const REFILL_BYTES = 2 ** 24;
/** Without progress of a request or a response: a server could send PING, SETTINGS, empty DATA or interim responses endlessly. */
const MAX_IDLE_FRAMES = 10_000;
/** Acknowledgements of PING and SETTINGS that a server does not read: each takes 300 bytes of memory. One read can bring 7,281. */
const MAX_UNREAD = 10_000;
const NOTHING = Buffer.alloc(0);

/** A request of a slot, and its response. */
export class Stream {
  id = 0;
  /** @type {Session | null} null: no request is in flight */
  session = null;
  /** @type {Exchange | null} */
  exchange = null;
  /** The encoded header fields of the request. @type {Buffer} */
  block = NOTHING;
  /** Of the request. */
  bodyBytes = 0;
  /** Rest of the request's body; null: none. @type {Buffer | null} */
  unsent = null;
  /** That the server still accepts of it, bytes. */
  window = 0;
  isSent = false;
  /** By the server's flow control, when it was sent. */
  isHeldBack = false;
  /** Of the response; 0: no final one yet. */
  status = 0;
  /** @type {number | null} its Content-Length */
  expected = null;
  /** Of the connection, when it sent the request. */
  readsBefore = 0;
  fullTurnsBefore = 0;
  #body = NOTHING;
  #length = 0;

  /** @param {Exchange} exchange */
  begin(exchange) {
    this.exchange = exchange;
    this.isSent = false;
    this.status = 0;
    this.expected = null;
    this.#length = 0;
    if (this.#body.length > OWN_BUFFER_BYTES) this.#body = NOTHING;
  }

  /** @param {Buffer} bytes valid only during the call @returns {boolean} false: too large */
  append(bytes) {
    const length = this.#length + bytes.length;
    if (length > MAX_BODY_BYTES) return false;
    if (length > this.#body.length) {
      const size = Math.max(length, this.expected ?? 0, 2 * this.#body.length, OWN_BUFFER_BYTES);
      const grown = Buffer.allocUnsafeSlow(Math.min(size, MAX_BODY_BYTES));
      grown.set(this.#body.subarray(0, this.#length));
      this.#body = grown;
    }
    this.#body.set(bytes, this.#length);
    this.#length = length;
    return true;
  }

  /** @param {Buffer} last bytes of the body @returns {Buffer | null} the body; null: too large */
  end(last) {
    if (this.#length === 0) return last.length > MAX_BODY_BYTES ? null : last;
    return this.append(last) ? this.#body.subarray(0, this.#length) : null;
  }

  /** @param {string} outcome */
  fail(outcome) {
    const { exchange } = this;
    this.exchange = null;
    exchange?.onFailure(outcome, !this.isSent);
  }
}

/** @typedef {(failure: string | null, streams: number) => void} Opener `streams` that the server allows */

export class Session {
  /** Requests that it still takes. */
  left;
  #isTls;
  /** Connecting to the proxy, or waiting for its tunnel. */
  #atProxy;
  #onEnd;
  #sendElsewhere;
  /** @type {Dialled | null} null: ended */
  #socket = null;
  #isReady = false;
  /** The server's SETTINGS have arrived. */
  #isSettled = false;
  /** Streams at a time, by these. */
  #maxStreams = Number.POSITIVE_INFINITY;
  /** Wait for these. @type {Set<Opener>} */
  #openers = new Set();
  /** Until the connection is ready, or has been read: all are sent in one write. @type {Set<Stream>} */
  #waiting = new Set();
  /**
   * Until everything that has arrived is read: each TLS record is a chunk, and a request sent before the next one could be given a
   * response that was already there. @type {NodeJS.Immediate | null}
   */
  #reading = null;
  /** In flight, by identifier. @type {Map<number, Stream>} */
  #streams = new Map();
  #nextId = 1;
  /** Whose response began in this chunk. @type {Set<Stream>} */
  #begun = new Set();
  /** Chunks so far. */
  #reads = 0;
  /** Bytes read in this turn of the event loop; and turns so far that read so many that the server may have had to wait. */
  #turnBytes = 0;
  #fullTurns = 0;
  #idleFrames = 0;
  /** Acknowledgements that the system has not taken, as the server does not read. */
  #unread = 0;
  /** Large requests that the next write completes. @type {{stream: Stream, id: number}[]} */
  #written = [];
  /** Start of a frame. */
  #pending = NOTHING;
  /** Header block without its end. @type {{id: number, flags: number, bytes: Buffer} | null} */
  #block = null;
  /** Bytes of DATA since the last WINDOW_UPDATE. */
  #received = 0;
  /** Bytes of DATA that the server accepts, in all and initially of a stream. */
  #window = wire.INITIAL_WINDOW;
  #streamWindow = wire.INITIAL_WINDOW;

  /**
   * @param {number} maxRequests @param {{isTls: boolean, atProxy: boolean}} way `atProxy`: through one @param {() => void} onEnd
   * @param {(stream: Stream) => void} sendElsewhere a request that this connection took, but did not send and will not
   */
  constructor(maxRequests, { isTls, atProxy }, onEnd, sendElsewhere) {
    this.left = maxRequests;
    this.#isTls = isTls;
    this.#atProxy = atProxy;
    this.#onEnd = onEnd;
    this.#sendElsewhere = sendElsewhere;
  }

  /** A request would need no new connection. */
  get isOpen() {
    return this.#isReady && this.left > 0;
  }

  /** @param {(callbacks: SocketCallbacks) => Dialled} dial */
  dial(dial) {
    this.#socket = dial({
      connected: () => {
        this.#atProxy = false;
        // The others wait for its handshake; each handshake counts once.
        const [first] = this.#waiting;
        first?.exchange?.onConnected?.();
      },
      ready: () => this.#ready(),
      read: (chunk) => this.#read(chunk),
      gone: (error) => {
        const report = error ?? { code: 'ECONNRESET' };
        const inHandshake = this.#isTls && !this.#isReady;
        this.#end(({ status }) => describeTransportError(report, status > 0, inHandshake).code);
      },
    });
  }

  /** @param {Opener} opener called once */
  whenOpen(opener) {
    if (this.#isSettled) return opener(null, this.#maxStreams);
    this.#openers.add(opener);
  }

  /** @param {Opener} opener is not called */
  abandon(opener) {
    this.#openers.delete(opener);
    this.#endIfUnused();
  }

  /** Sends the request as soon as the connection is ready. @param {Stream} stream */
  add(stream) {
    this.left--;
    stream.session = this;
    // None yet on this connection: it may be refused before it is sent.
    stream.id = 0;
    stream.readsBefore = -1;
    this.#waiting.add(stream);
    if (!this.#isReady) stream.exchange?.onConnect?.();
    else if (this.#reading === null) this.#start();
  }

  /** @returns {'proxy_timeout' | null} of a request that has waited for too long; null: not for the proxy */
  get timeoutFailure() {
    return this.#atProxy ? 'proxy_timeout' : null;
  }

  /** What a connection that was not open in time waited for. */
  get openingFailure() {
    if (this.#isReady) return 'no_response';
    return this.timeoutFailure ?? (this.#socket?.connecting ? 'connect_timeout' : 'tls_handshake_timeout');
  }

  /** @param {Stream} stream whose response is not wanted any more */
  abort(stream) {
    // The server, or the network, may be gone: the next request opens a connection.
    if (!this.#isReady || this.#reads === stream.readsBefore) this.left = 0;
    if (stream.isSent) this.#reset(stream);
    this.#remove(stream);
  }

  /** Takes no more requests if its server has another address. @param {ReadonlySet<string>} addresses */
  keepOnly(addresses) {
    if (!this.#isReady || addresses.has(String(this.#socket?.remoteAddress))) return;
    this.left = 0;
    this.#endIfUnused();
  }

  /** Ends if it takes no more requests, and the last one is done. */
  #endIfUnused() {
    const isUsed = this.#streams.size + this.#waiting.size + this.#openers.size > 0;
    if (!isUsed && (this.left === 0 || !this.#isReady)) this.#end(() => 'aborted');
  }

  #ready() {
    if (this.#socket === null) return;
    this.#atProxy = false;
    if (this.#isTls && this.#socket.alpnProtocol !== 'h2') return this.#end(() => 'http2_not_offered');
    this.#isReady = true;
    this.#socket.write(wire.clientPreface(STREAM_WINDOW, MAX_HEAD_BYTES));
    this.#start();
  }

  /** Sends the requests that wait. */
  #start() {
    const frames = /** @type {Buffer[]} */ ([]);
    // A callback of one request may remove others.
    for (const stream of this.#waiting) {
      this.#waiting.delete(stream);
      if (this.#streams.size >= this.#maxStreams) {
        this.#fail(stream, 'stream_refused');
        continue;
      }
      stream.id = this.#nextId;
      this.#nextId += 2;
      stream.window = this.#streamWindow;
      stream.readsBefore = this.#reads;
      stream.fullTurnsBefore = this.#fullTurns;
      this.#streams.set(stream.id, stream);
      stream.isSent = true;
      stream.isHeldBack = false;
      stream.exchange?.onSent();
      frames.push(wire.headersFrames(stream.block, stream.unsent === null, stream.id));
      this.#takeData(stream, frames);
      stream.isHeldBack = stream.unsent !== null;
      if (stream.isHeldBack) stream.exchange?.onHeldBack?.();
    }
    this.#write(frames);
  }

  /** @param {Buffer[]} frames */
  #write(frames) {
    if (frames.length === 0) return;
    const bytes = frames.length === 1 ? frames[0] : Buffer.concat(frames);
    if (this.#written.length === 0) return void this.#socket?.write(bytes);
    const written = this.#written;
    this.#written = [];
    this.#socket?.write(bytes, (error) => {
      if (error) return;
      for (const { stream, id } of written)
        if (this.#streams.get(id) === stream) stream.exchange?.onWritten?.();
    });
  }

  /** Of the request's body, as much as the server accepts now (RFC 9113, 5.2). @param {Stream} stream @param {Buffer[]} frames are added */
  #takeData(stream, frames) {
    while (stream.unsent !== null) {
      const length = Math.min(stream.unsent.length, wire.MAX_FRAME_BYTES, stream.window, this.#window);
      if (length <= 0) break;
      // A server may raise two windows for it.
      this.#idleFrames = Math.max(0, this.#idleFrames - 2);
      const isLast = length === stream.unsent.length;
      const data = stream.unsent.subarray(0, length);
      frames.push(wire.frame(TYPE.DATA, isLast ? FLAG.END_STREAM : 0, stream.id, data));
      stream.window -= length;
      this.#window -= length;
      stream.unsent = isLast ? null : stream.unsent.subarray(length);
      if (isLast && (stream.isHeldBack || stream.bodyBytes > LARGE_BODY_BYTES))
        this.#written.push({ stream, id: stream.id });
    }
  }

  #sendData() {
    const frames = /** @type {Buffer[]} */ ([]);
    for (const stream of this.#streams.values()) this.#takeData(stream, frames);
    this.#write(frames);
  }

  /** @param {Buffer} chunk */
  #read(chunk) {
    this.#reads++;
    if (this.#turnBytes <= LARGE_RESPONSE_BYTES && this.#turnBytes + chunk.length > LARGE_RESPONSE_BYTES)
      this.#fullTurns++;
    this.#turnBytes += chunk.length;
    this.#reading ??= setImmediate(() => {
      this.#reading = null;
      this.#turnBytes = 0;
      this.#start();
    });
    this.#readFrames(chunk);
    for (const { exchange } of this.#begun) exchange?.onFirstBytes?.();
    this.#begun.clear();
  }

  /** @param {Buffer} chunk */
  #readFrames(chunk) {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    let at = 0;
    while (bytes.length - at >= wire.HEAD_BYTES) {
      const begin = at + wire.HEAD_BYTES;
      const end = begin + bytes.readUIntBE(at, 3);
      if (end - begin > wire.MAX_FRAME_BYTES) return this.#end(() => 'bad_http');
      if (end > bytes.length) break;
      const id = bytes.readUInt32BE(at + 5) & wire.MAX_WINDOW;
      if (!this.#readFrame(bytes[at + 3], bytes[at + 4], id, bytes.subarray(begin, end)))
        return this.#end(() => 'bad_http');
      if (this.#socket === null) return;
      at = end;
    }
    this.#pending = at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
  }

  /** @param {number} type @param {number} flags @param {number} id @param {Buffer} payload @returns {boolean} false: not HTTP/2 */
  #readFrame(type, flags, id, payload) {
    if (++this.#idleFrames > MAX_IDLE_FRAMES) return false;
    const isAck = (flags & FLAG.ACK) !== 0;
    if (!this.#isSettled && (type !== TYPE.SETTINGS || isAck)) return false;
    if (this.#block !== null) return type === TYPE.CONTINUATION && this.#continue(id, flags, payload);
    switch (type) {
      case TYPE.DATA:
        return this.#readData(id, flags, payload);
      case TYPE.HEADERS: {
        const bytes = wire.contentOf(payload, flags);
        if (bytes === null) return false;
        if ((flags & FLAG.END_HEADERS) !== 0) return this.#readHeaders(id, flags, bytes);
        this.#block = { id, flags, bytes: Buffer.from(bytes) };
        return true;
      }
      case TYPE.RST_STREAM:
        return payload.length === 4 && this.#readReset(id, payload.readUInt32BE());
      case TYPE.SETTINGS:
        return id === 0 && (isAck ? payload.length === 0 : this.#readSettings(payload));
      case TYPE.PING:
        if (payload.length !== 8 || id !== 0) return false;
        return isAck || this.#acknowledge(wire.frame(TYPE.PING, FLAG.ACK, 0, payload));
      case TYPE.GOAWAY:
        return id === 0 && payload.length >= 8 && this.#goAway(payload.readUInt32BE() & wire.MAX_WINDOW);
      case TYPE.WINDOW_UPDATE:
        return payload.length === 4 && this.#raiseWindow(id, payload.readUInt32BE() & wire.MAX_WINDOW);
      case TYPE.PUSH_PROMISE:
      case TYPE.CONTINUATION:
        return false;
      default: // PRIORITY and unknown types: RFC 9113, 5.5
        return true;
    }
  }

  /** @param {number} id @param {number} flags @param {Buffer} payload */
  #continue(id, flags, payload) {
    const block = /** @type {{id: number, flags: number, bytes: Buffer}} */ (this.#block);
    if (id !== block.id || block.bytes.length + payload.length > MAX_HEAD_BYTES) return false;
    block.bytes = Buffer.concat([block.bytes, payload]);
    if ((flags & FLAG.END_HEADERS) === 0) return true;
    this.#block = null;
    return this.#readHeaders(id, block.flags, block.bytes);
  }

  /** @param {number} id @param {number} flags @param {Buffer} block */
  #readHeaders(id, flags, block) {
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#isOver(id);
    const isLast = (flags & FLAG.END_STREAM) !== 0;
    const head = wire.readHeaderBlock(block);
    const isTrailer = stream.status > 0;
    // An interim response has no end, 101 does not exist, and a trailer no status: RFC 9113, 8.1 and 8.6.
    const isInterim = head !== null && head.status >= 100 && head.status < 200;
    const isWrong = isTrailer ? head?.status !== 0 || !isLast : isInterim && (isLast || head.status === 101);
    if (head === null || isWrong || (!isTrailer && head.status < 100))
      return this.#reject(stream, 'bad_http');
    if (isInterim) return true;
    if (isTrailer) return this.#finish(stream, NOTHING);
    stream.status = head.status;
    stream.expected = head.status === 204 || head.status === 304 ? null : head.length;
    if (isLast) return this.#finish(stream, NOTHING);
    if ((stream.expected ?? 0) > MAX_BODY_BYTES) return this.#reject(stream, 'response_too_large');
    this.#begun.add(stream);
    return true;
  }

  /** @param {number} id @param {number} flags @param {Buffer} payload */
  #readData(id, flags, payload) {
    this.#received += payload.length;
    if (this.#received > REFILL_BYTES) {
      this.#socket?.write(wire.numberFrame(TYPE.WINDOW_UPDATE, 0, this.#received));
      this.#received = 0;
    }
    const data = wire.contentOf(payload, flags & FLAG.PADDED);
    const stream = this.#streams.get(id);
    if (data === null) return false;
    if (stream === undefined) return this.#isOver(id);
    if (stream.status === 0) return this.#reject(stream, 'bad_http');
    if ((flags & FLAG.END_STREAM) !== 0) return this.#finish(stream, data);
    if (data.length > 0) this.#idleFrames--;
    return stream.append(data) || this.#reject(stream, 'response_too_large');
  }

  /** @param {Stream} stream @param {Buffer} last bytes of the body @returns {boolean} */
  #finish(stream, last) {
    const { status, expected, unsent } = stream;
    const body = stream.end(last);
    if (body === null) return this.#reject(stream, 'response_too_large');
    // RFC 9113, 8.1.1.
    if (expected !== null && expected !== body.length)
      return this.#reject(stream, body.length < expected ? 'truncated' : 'bad_http');
    if (unsent !== null && status < 300) return this.#reject(stream, 'bad_http');
    if (unsent !== null) this.#reset(stream);
    this.#idleFrames = 0;
    const { exchange } = stream;
    stream.exchange = null;
    this.#remove(stream);
    exchange?.onResponse(status, body, this.#fullTurns > stream.fullTurnsBefore);
    return true;
  }

  /** @param {number} id @param {number} code RFC 9113, 7 */
  #readReset(id, code) {
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#isOver(id);
    this.#idleFrames = 0;
    if (code === CODE.REFUSED_STREAM) return this.#fail(stream, 'stream_refused');
    if (code === CODE.HTTP_1_1_REQUIRED) return this.#fail(stream, 'http2_not_offered');
    return this.#fail(stream, stream.status > 0 ? 'truncated' : 'stream_reset');
  }

  /** @param {Buffer} payload */
  #readSettings(payload) {
    const settings = wire.readSettings(payload);
    if (settings === null) return false;
    const { streams = this.#maxStreams, window = this.#streamWindow } = settings;
    this.#maxStreams = streams;
    for (const stream of this.#streams.values()) stream.window += window - this.#streamWindow;
    this.#streamWindow = window;
    if (!this.#acknowledge(wire.frame(TYPE.SETTINGS, FLAG.ACK, 0))) return false;
    this.#sendData();
    if (this.#isSettled) return true;
    this.#isSettled = true;
    for (const opener of this.#openers) opener(null, streams);
    this.#openers.clear();
    return true;
  }

  /** @param {Buffer} frame @returns {boolean} false: the server does not read so many */
  #acknowledge(frame) {
    this.#unread++;
    this.#socket?.write(frame, () => this.#unread--);
    return this.#unread <= MAX_UNREAD;
  }

  /** The server takes no more requests, and has not processed those after `last` (RFC 9113, 6.8). @param {number} last */
  #goAway(last) {
    this.left = 0;
    for (const [id, stream] of [...this.#streams])
      if (id > last && this.#streams.has(id)) this.#fail(stream, 'stream_refused');
    this.#passOn();
    this.#endIfUnused();
    return true;
  }

  /** Requests that were handed over, but are not sent, go to another connection. */
  #passOn() {
    for (const stream of [...this.#waiting]) {
      this.#waiting.delete(stream);
      stream.session = null;
      this.#sendElsewhere(stream);
    }
  }

  /** @param {number} id @param {number} bytes */
  #raiseWindow(id, bytes) {
    const stream = this.#streams.get(id);
    if (id === 0) this.#window += bytes;
    else if (stream !== undefined) stream.window += bytes;
    else return this.#isOver(id);
    if (bytes === 0 || Math.max(this.#window, stream?.window ?? 0) > wire.MAX_WINDOW) return false;
    this.#sendData();
    return true;
  }

  /** Frames of a stream that has ended may still arrive. @param {number} id */
  #isOver(id) {
    return id % 2 === 1 && id < this.#nextId;
  }

  /** @param {Stream} stream */
  #reset(stream) {
    this.#socket?.write(wire.numberFrame(TYPE.RST_STREAM, stream.id, CODE.CANCEL));
  }

  /** Because of its response. @param {Stream} stream @param {string} outcome */
  #reject(stream, outcome) {
    this.#reset(stream);
    return this.#fail(stream, outcome);
  }

  /** @param {Stream} stream @param {string} outcome */
  #fail(stream, outcome) {
    this.#remove(stream);
    stream.fail(outcome);
    return true;
  }

  /** @param {Stream} stream */
  #remove(stream) {
    // The server does not read: what waits for it must not grow, whether it responds or not.
    const queued = this.#socket?.writableLength ?? 0;
    if (queued > (MAX_BODY_BYTES + 2 * stream.bodyBytes) * this.#streams.size) this.left = 0;
    this.#waiting.delete(stream);
    this.#streams.delete(stream.id);
    this.#begun.delete(stream);
    stream.session = null;
    this.#endIfUnused();
  }

  /** @param {(stream: {status: number}) => string} outcomeOf a request in flight */
  #end(outcomeOf) {
    if (this.#socket === null) return;
    this.left = 0;
    this.#socket.destroy();
    this.#socket = null;
    this.#onEnd();
    if (this.#isReady) this.#passOn();
    const streams = [...this.#waiting, ...this.#streams.values()];
    this.#waiting.clear();
    this.#streams.clear();
    this.#begun.clear();
    for (const opener of this.#openers) opener(outcomeOf({ status: 0 }), 0);
    for (const stream of streams) {
      if (stream.session !== this) continue;
      stream.session = null;
      stream.fail(outcomeOf(stream));
    }
  }

  /** Without callbacks: no request is in flight. */
  close() {
    this.#end(() => 'aborted');
  }
}
