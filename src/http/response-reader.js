/**
 * Parses the bytes of a connection into responses (RFC 9112, sections 2 to 7). Strict about the end of a response:
 * after an error there, the next request would receive the wrong response.
 */

/** A longer response, such as a large CRL, is `too large`; the rest is not read. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** The limit of Node's own parser. */
export const MAX_HEAD_BYTES = 16 * 1024;

/** A server could send interim responses endlessly. */
const MAX_INTERIM = 1000;

/** Size of a connection's own buffer; for a longer response it borrows a large one until the next response. */
export const OWN_BUFFER_BYTES = 16 * 1024;

const HEAD_END = Buffer.from('\r\n\r\n');
const PROTOCOL = Buffer.from('HTTP/1.');
/** Where the status begins: after `HTTP/1.1 `. */
const STATUS_AT = 9;
const DIGIT_ONE = 0x31;
const NOTHING = Buffer.alloc(0);

/** Unused large buffers of this thread. @type {Buffer[]} */
const spare = [];

/** @typedef {'interim' | 'more' | 'done' | 'bad' | 'too large'} Progress `interim`: nothing of the final response yet; `done`: `status`, `body` are valid until the next call */

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
/** Of a chunk. No white space around extensions: RFC 9112 allows it, Node rejects it, servers do not send it. */
const SIZE_LINE = new RegExp(`^(0*[0-9a-fA-F]{1,8})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`);

/** Of a size line with its extensions, and of each trailer field. */
const MAX_LINE_BYTES = 4096;
/** Of all these lines of a response: a body in chunks of one byte has three times its length. */
const MAX_LINES_BYTES = 4 * MAX_BODY_BYTES;
const MAX_TRAILERS = 100;

/** @param {Uint8Array} bytes of a head that has not ended @returns {boolean} its status is there, and not 1xx */
const isFinal = (bytes) => bytes.length > STATUS_AT && bytes[STATUS_AT] !== DIGIT_ONE;

/** Keeps the partial response of one connection. */
export class ResponseReader {
  status = 0;
  /** @type {Uint8Array} */
  body = NOTHING;
  /** Whether the connection may carry another request: no byte followed the response. */
  reusable = true;
  /** @type {number | null} the server's keep-alive time for an idle connection */
  keepAliveMs = null;

  /** @type {ResponseHead | null} of the current response, once complete */
  #head = null;
  /** Bytes of an incomplete head. */
  #pending = NOTHING;
  #interim = 0;
  /** The body so far, if it arrives in parts. @type {Buffer} */
  #buffer = NOTHING;
  #length = 0;
  /** Between the data of chunks: the expected line, and its first part. @type {'size' | 'data end' | 'trailer'} */
  #nextLine = 'size';
  #line = '';
  /** Bytes of the current chunk that have not arrived. */
  #left = 0;
  #trailers = 0;
  /** Total length of the lines before this one. */
  #lines = 0;
  /** Cache: most heads equal the previous one. */
  #lastText = '';
  /** @type {ResponseHead | null} */
  #lastHead = null;

  /** Resets the reader, including the last body: the next byte is the first of a response. */
  begin() {
    this.status = 0;
    this.body = NOTHING;
    this.#head = null;
    this.#pending = NOTHING;
    this.#interim = 0;
    this.#length = 0;
    this.#nextLine = 'size';
    this.#line = '';
    this.#left = 0;
    this.#trailers = 0;
    this.#lines = 0;
    if (this.#buffer.length > OWN_BUFFER_BYTES) {
      spare.push(this.#buffer);
      this.#buffer = NOTHING;
    }
  }

  /** @param {Buffer} bytes valid only during the call @returns {Progress} */
  read(bytes) {
    if (this.#head !== null) return this.#readBody(this.#head, bytes, 0);
    const input = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    for (let at = 0; ; ) {
      const end = input.indexOf(HEAD_END, at);
      if (end < 0) return this.#awaitHead(input.subarray(at));
      const head = end - at > MAX_HEAD_BYTES ? null : this.#parse(input.toString('latin1', at, end));
      // 101 would be the response to an Upgrade, which no request has.
      if (head === null || head.status === 101) return 'bad';
      at = end + HEAD_END.length;
      if (head.status >= 200) {
        this.#head = head;
        this.status = head.status;
        this.keepAliveMs = head.keepAliveMs;
        return this.#readBody(head, input, at);
      }
      // Early hints and the like: the response follows (RFC 9110, 15.2).
      if (++this.#interim > MAX_INTERIM) return 'bad';
    }
  }

  /** The server has closed the connection. @returns {'done' | 'nothing' | 'truncated'} `nothing`: no complete head */
  end() {
    if (this.#head === null) return 'nothing';
    if (this.#head.framing !== 'close') return 'truncated';
    return this.#finish(this.#buffer.subarray(0, this.#length), true);
  }

  /** @returns {string} first bytes received in place of a head, latin1 */
  get unexpected() {
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
    return isFinal(bytes) ? 'more' : 'interim';
  }

  /** @param {ResponseHead} head @param {Buffer} bytes @param {number} from @returns {Progress} */
  #readBody(head, bytes, from) {
    if (head.framing === 'chunked') return this.#readChunks(bytes, from);
    if (head.framing === 'close') return this.#append(bytes.subarray(from)) ? 'more' : 'too large';
    if (head.length > MAX_BODY_BYTES) return 'too large';
    const to = from + head.length - this.#length;
    const isExact = to === bytes.length;
    if (this.#length === 0 && bytes.length >= to) return this.#finish(bytes.subarray(from, to), isExact);
    this.#append(bytes.subarray(from, to));
    return bytes.length < to ? 'more' : this.#finish(this.#buffer.subarray(0, this.#length), isExact);
  }

  /** Chunked transfer coding (RFC 9112, section 7). @param {Buffer} bytes @param {number} from @returns {Progress} */
  #readChunks(bytes, from) {
    for (let at = from; at < bytes.length; ) {
      if (this.#left > 0) {
        const to = Math.min(bytes.length, at + this.#left);
        if (!this.#append(bytes.subarray(at, to))) return 'too large';
        this.#left -= to - at;
        at = to;
        continue;
      }
      const end = bytes.indexOf(0x0a, at);
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end);
      if (this.#line.length > MAX_LINE_BYTES || this.#lines > MAX_LINES_BYTES) return 'bad';
      if (end < 0) return 'more';
      at = end + 1;
      const next = this.#line.endsWith('\r') ? this.#readLine(this.#line.slice(0, -1)) : 'bad';
      if (next === 'bad') return 'bad';
      if (next === 'done') return this.#finish(this.#buffer.subarray(0, this.#length), at === bytes.length);
      this.#nextLine = next;
      this.#lines += this.#line.length;
      this.#line = '';
    }
    return 'more';
  }

  /** @param {string} line without CRLF @returns {'size' | 'data end' | 'trailer' | 'done' | 'bad'} the next line */
  #readLine(line) {
    if (this.#nextLine === 'data end') return line === '' ? 'size' : 'bad';
    if (this.#nextLine === 'trailer') {
      if (line === '') return 'done';
      return FIELD.test(line) && ++this.#trailers <= MAX_TRAILERS ? 'trailer' : 'bad';
    }
    const size = SIZE_LINE.exec(line);
    if (size === null) return 'bad';
    this.#left = Number.parseInt(size[1], 16);
    return this.#left === 0 ? 'trailer' : 'data end';
  }

  /** @param {Uint8Array} body @param {boolean} isExact no byte follows it @returns {'done'} */
  #finish(body, isExact) {
    this.body = body;
    this.reusable = isExact && /** @type {ResponseHead} */ (this.#head).reusable;
    return 'done';
  }

  /** @param {Uint8Array} bytes @returns {boolean} false: too large */
  #append(bytes) {
    const length = this.#length + bytes.length;
    if (length > MAX_BODY_BYTES) return false;
    if (length > this.#buffer.length) {
      const isLarge = length > OWN_BUFFER_BYTES;
      const size = isLarge ? MAX_BODY_BYTES : OWN_BUFFER_BYTES;
      const grown = (isLarge ? spare.pop() : null) ?? Buffer.allocUnsafeSlow(size);
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
    return true;
  }
}

/** @typedef {NonNullable<ReturnType<typeof parseResponseHead>>} ResponseHead */

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** A field line: name and value; never folded (obsolete: RFC 9112, 5.2). */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** Null: not HTTP/1.x, or the end of the body is ambiguous. @param {string} text latin1, without the last empty line */
export function parseResponseHead(text) {
  const [first, ...lines] = text.split('\r\n');
  const start = STATUS_LINE.exec(first);
  const fields = start === null ? null : readFields(lines);
  if (start === null || fields === null) return null;
  const status = Number(start[2]);
  const isOld = start[1] === '0';
  if (isOld && status < 200) return null; // HTTP/1.0 has no interim responses: RFC 9110, 15.2
  const end = framingOf(status, fields);
  if (end === null) return null;
  const tokens = tokensOf(fields.get('connection'));
  const isKept = (!isOld || tokens.includes('keep-alive')) && !tokens.includes('close');
  // Both lengths at once, or chunks from an HTTP/1.0 server, can be request smuggling: RFC 9112, 6.1 and 6.3.
  const isSuspicious = fields.has('transfer-encoding') && (isOld || fields.has('content-length'));
  // Seconds: RFC 2068, 19.7.1.1.
  const timeout = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,6})/i.exec(fields.get('keep-alive') ?? '');
  return {
    status,
    ...end,
    reusable: isKept && !isSuspicious && end.framing !== 'close', // the connection may carry another request
    keepAliveMs: timeout === null ? null : Number(timeout[1]) * 1000, // of an idle connection
  };
}

/** Values of one name are joined with a comma (RFC 9110, 5.3). @param {string[]} lines */
function readFields(lines) {
  const fields = /** @type {Map<string, string>} */ (new Map());
  for (const line of lines) {
    const field = FIELD.exec(line);
    if (field === null) return null;
    const name = field[1].toLowerCase();
    const before = fields.get(name);
    fields.set(name, before === undefined ? field[2] : `${before},${field[2]}`);
  }
  return fields;
}

/** @typedef {{framing: 'none' | 'length' | 'chunked' | 'close', length: number}} Framing `length`: bytes */

/** RFC 9112, 6.3. @param {number} status @param {Map<string, string>} fields @returns {Framing | null} */
function framingOf(status, fields) {
  if (status < 200 || status === 204 || status === 304) return { framing: 'none', length: 0 };
  if (fields.has('transfer-encoding')) {
    const isChunked = tokensOf(fields.get('transfer-encoding')).at(-1) === 'chunked';
    return { framing: isChunked ? 'chunked' : 'close', length: 0 };
  }
  if (!fields.has('content-length')) return { framing: 'close', length: 0 };
  const [length, ...others] = new Set(tokensOf(fields.get('content-length')));
  if (others.length > 0 || !/^\d{1,15}$/.test(length)) return null;
  return { framing: 'length', length: Number(length) };
}

/** Trims only HTTP's white space: `trim` alone would remove \xa0, too. @param {string | undefined} list */
function tokensOf(list) {
  const tokens = list?.toLowerCase().split(',') ?? [];
  return tokens.map((token) => (token.includes('\xa0') ? token : token.trim()));
}
