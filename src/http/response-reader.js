/**
 * Bytes of a connection -> responses in order: status and body. Strict about where a response ends: an error there would
 * give the next request the wrong response. RFC 9112.
 */
import { createChunkReader, parseResponseHead } from './response-syntax.js';
/** @import { ResponseHead } from './response-syntax.js' */

/** A longer response, such as a large CRL, is `too large`; the rest is not read. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** As in Node's own parser. */
const MAX_HEAD_BYTES = 16 * 1024;

/** A connection keeps a buffer of this size; for a longer response it borrows a large one until the next. */
const OWN_BUFFER_BYTES = 16 * 1024;

const HEAD_END = Buffer.from('\r\n\r\n');
const PROTOCOL = Buffer.from('HTTP/1.');
const NOTHING = Buffer.alloc(0);

/** Unused large buffers of this thread. @type {Buffer[]} */
const spare = [];

/** @typedef {'more' | 'done' | 'bad' | 'too large'} Progress `done`: `status` and `body` hold until the next call */

/** One per connection: it holds the partial response. */
export class ResponseReader {
  status = 0;
  /** @type {Uint8Array} */
  body = NOTHING;
  /** The connection may carry another request: all bytes belonged to the response. */
  reusable = true;
  /** @type {number | null} the server's keep-alive time for an idle connection */
  keepAliveMs = null;

  /** @type {ResponseHead | null} of the current response, once complete */
  #head = null;
  /** Bytes of an incomplete head. */
  #pending = NOTHING;
  /** @type {Buffer} */
  #buffer = NOTHING;
  #length = 0;
  #tooLarge = false;
  #chunks = createChunkReader((bytes) => this.#append(bytes));
  /** Most heads equal the one before. */
  #lastText = '';
  /** @type {ResponseHead | null} */
  #lastHead = null;

  /** Resets the reader, the last body included: the next byte is the first of a response. */
  begin() {
    this.status = 0;
    this.body = NOTHING;
    this.#head = null;
    this.#pending = NOTHING;
    this.#length = 0;
    this.#tooLarge = false;
    if (this.#buffer.length > OWN_BUFFER_BYTES) {
      spare.push(this.#buffer);
      this.#buffer = NOTHING;
    }
  }

  /** @param {Buffer} bytes valid only during the call @returns {Progress} */
  read(bytes) {
    if (this.#head !== null) return this.#readBody(this.#head, bytes, 0);
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    for (let at = 0; ; ) {
      const end = all.indexOf(HEAD_END, at);
      if (end < 0) return this.#awaitHead(all.subarray(at));
      const head = end - at > MAX_HEAD_BYTES ? null : this.#parse(all.toString('latin1', at, end));
      // 101 would be the response to an Upgrade, which no request has.
      if (head === null || head.status === 101) return 'bad';
      at = end + HEAD_END.length;
      // Early hints and the like: the response follows (RFC 9110, 15.2).
      if (head.status < 200) continue;
      this.#head = head;
      this.status = head.status;
      this.keepAliveMs = head.keepAliveMs;
      this.#chunks.begin();
      return this.#readBody(head, all, at);
    }
  }

  /**
   * The server has closed the connection.
   *
   * @returns {'done' | 'nothing' | 'truncated'} `nothing`: no complete head
   */
  end() {
    if (this.#head === null) return 'nothing';
    if (this.#head.framing !== 'close') return 'truncated';
    this.#finish(this.#buffer.subarray(0, this.#length), true);
    return 'done';
  }

  /** @returns {string} first bytes received in place of a head, latin1 */
  get strange() {
    return this.#pending.toString('latin1', 0, 8);
  }

  /** @param {string} text */
  #parse(text) {
    if (text !== this.#lastText) {
      this.#lastText = text;
      this.#lastHead = parseResponseHead(text);
    }
    return this.#lastHead;
  }

  /** @param {Buffer} bytes @returns {Progress} */
  #awaitHead(bytes) {
    this.#pending = Buffer.from(bytes);
    const start = Math.min(bytes.length, PROTOCOL.length);
    if (PROTOCOL.compare(bytes, 0, start, 0, start) !== 0 || bytes.length > MAX_HEAD_BYTES) return 'bad';
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) {
      if (bytes[at - 1] !== 0x0d) return 'bad';
    }
    return 'more';
  }

  /**
   * @param {ResponseHead} head
   * @param {Buffer} bytes
   * @param {number} from
   * @returns {Progress}
   */
  #readBody(head, bytes, from) {
    if (head.framing === 'chunked') return this.#readChunks(bytes, from);
    if (head.framing === 'close') {
      this.#append(bytes.subarray(from));
      return this.#tooLarge ? 'too large' : 'more';
    }
    if (head.length > MAX_BODY_BYTES) return 'too large';
    const to = from + head.length - this.#length;
    if (bytes.length < to) {
      this.#append(bytes.subarray(from));
      return 'more';
    }
    if (this.#length === 0) return this.#finish(bytes.subarray(from, to), to === bytes.length);
    this.#append(bytes.subarray(from, to));
    return this.#finish(this.#buffer.subarray(0, this.#length), to === bytes.length);
  }

  /** @param {Buffer} bytes @param {number} from @returns {Progress} */
  #readChunks(bytes, from) {
    const to = this.#chunks.read(bytes, from);
    if (this.#tooLarge) return 'too large';
    if (this.#chunks.bad) return 'bad';
    return this.#chunks.done
      ? this.#finish(this.#buffer.subarray(0, this.#length), to === bytes.length)
      : 'more';
  }

  /** @param {Uint8Array} body @param {boolean} isAll @returns {'done'} */
  #finish(body, isAll) {
    this.body = body;
    this.reusable = isAll && /** @type {ResponseHead} */ (this.#head).reusable;
    return 'done';
  }

  /** @param {Uint8Array} bytes */
  #append(bytes) {
    const length = this.#length + bytes.length;
    if (length > MAX_BODY_BYTES) {
      this.#tooLarge = true;
      return;
    }
    if (length > this.#buffer.length) {
      const grown =
        length > OWN_BUFFER_BYTES
          ? (spare.pop() ?? Buffer.allocUnsafeSlow(MAX_BODY_BYTES))
          : Buffer.allocUnsafeSlow(OWN_BUFFER_BYTES);
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }
}
