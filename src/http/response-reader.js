/**
 * Bytes of a connection -> responses in order: status and body. Strict about the end of a response: an error there would give the next
 * request the wrong response. RFC 9112, sections 2 to 7.
 */

/** A longer response, such as a large CRL, is `too large`; the rest is not read. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** As in Node's own parser. */
const MAX_HEAD_BYTES = 16 * 1024;

/** A server could send interim responses without end. */
const MAX_INTERIM = 1000;

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
  #interim = 0;
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
    this.#interim = 0;
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
      if (head.status < 200) {
        if (++this.#interim > MAX_INTERIM) return 'bad';
        continue;
      }
      this.#head = head;
      this.status = head.status;
      this.keepAliveMs = head.keepAliveMs;
      this.#chunks.begin();
      return this.#readBody(head, all, at);
    }
  }

  /** The server has closed the connection. @returns {'done' | 'nothing' | 'truncated'} `nothing`: no complete head */
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

  /** @param {ResponseHead} head @param {Buffer} bytes @param {number} from @returns {Progress} */
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

/**
 * @typedef {object} ResponseHead
 * @property {number} status
 * @property {'none' | 'length' | 'chunked' | 'close'} framing how the end of the body is found (RFC 9112, 6.3)
 * @property {number} length bytes of the body, for `length`
 * @property {boolean} reusable the connection may carry another request
 * @property {number | null} keepAliveMs the server's keep-alive time for an idle connection
 */

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** A field line: name and value; never folded over lines, which RFC 9112, 5.2, makes obsolete. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;

/**
 * @param {string} text latin1, without the empty line that ends it
 * @returns {ResponseHead | null} null: not HTTP/1.x, or the end of its body is ambiguous
 */
export function parseResponseHead(text) {
  const [first, ...lines] = text.split('\r\n');
  const start = STATUS_LINE.exec(first);
  const fields = start === null ? null : readFields(lines);
  if (start === null || fields === null) return null;
  const status = Number(start[2]);
  const isOld = start[1] === '0';
  // HTTP/1.0 has no interim responses: RFC 9110, 15.2.
  if (isOld && status < 200) return null;
  const end = framingOf(status, fields);
  if (end === null) return null;
  const tokens = tokensOf(fields.get('connection'));
  const stays = isOld ? tokens.includes('keep-alive') : !tokens.includes('close');
  // Both lengths at once, or chunks from an HTTP/1.0 server, can be request smuggling: RFC 9112, 6.1 and 6.3.
  const isDoubtful = fields.has('transfer-encoding') && (isOld || fields.has('content-length'));
  // Seconds: RFC 2068, 19.7.1.1.
  const timeout = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,6})/i.exec(fields.get('keep-alive') ?? '');
  return {
    status,
    ...end,
    reusable: stays && !isDoubtful && end.framing !== 'close',
    keepAliveMs: timeout === null ? null : Number(timeout[1]) * 1000,
  };
}

/** @param {string[]} lines @returns {Map<string, string> | null} values of one name joined with a comma (RFC 9110, 5.3) */
function readFields(lines) {
  /** @type {Map<string, string>} */
  const fields = new Map();
  for (const line of lines) {
    const field = FIELD.exec(line);
    if (field === null) return null;
    const name = field[1].toLowerCase();
    const before = fields.get(name);
    fields.set(name, before === undefined ? field[2] : `${before},${field[2]}`);
  }
  return fields;
}

/**
 * @param {number} status
 * @param {Map<string, string>} fields
 * @returns {Pick<ResponseHead, 'framing' | 'length'> | null}
 */
function framingOf(status, fields) {
  if (status < 200 || status === 204 || status === 304) return { framing: 'none', length: 0 };
  if (fields.has('transfer-encoding')) {
    const isChunked = tokensOf(fields.get('transfer-encoding')).at(-1) === 'chunked';
    return { framing: isChunked ? 'chunked' : 'close', length: 0 };
  }
  if (!fields.has('content-length')) return { framing: 'close', length: 0 };
  const [length, ...others] = new Set(tokensOf(fields.get('content-length')));
  return others.length === 0 && /^\d{1,15}$/.test(length)
    ? { framing: 'length', length: Number(length) }
    : null;
}

/** @param {string | undefined} list */
function tokensOf(list) {
  return list === undefined ? [] : list.split(',').map((token) => trimBlanks(token).toLowerCase());
}

/** White space as HTTP has it: not that of `trim`, and in linear time. @param {string} text */
function trimBlanks(text) {
  const isBlank = (/** @type {number} */ at) => text[at] === ' ' || text[at] === '\t';
  let [from, to] = [0, text.length];
  while (from < to && isBlank(from)) from++;
  while (to > from && isBlank(to - 1)) to--;
  return text.slice(from, to);
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
/** No white space around extensions: RFC 9112 allows it, Node refuses it, servers do not send it. */
const SIZE_LINE = new RegExp(`^(0*[0-9a-fA-F]{1,8})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`);

/** Of a size line with its extensions, and of each trailer field. */
const MAX_LINE_BYTES = 4096;
const MAX_TRAILERS = 100;

/**
 * The chunked transfer coding (RFC 9112, section 7).
 *
 * @param {(bytes: Uint8Array) => void} append gets the next part of the body, valid only during the call
 */
function createChunkReader(append) {
  /** @type {'size' | 'data' | 'data end' | 'trailer' | 'done' | 'bad'} */
  let phase = 'size';
  /** Missing bytes of the chunk. */
  let left = 0;
  let line = '';
  let trailers = 0;

  /** @param {string} whole without its line break */
  function afterLine(whole) {
    if (phase === 'data end') return whole === '' ? 'size' : 'bad';
    if (phase === 'trailer') {
      if (whole === '') return 'done';
      return FIELD.test(whole) && ++trailers <= MAX_TRAILERS ? 'trailer' : 'bad';
    }
    const size = SIZE_LINE.exec(whole);
    if (size === null) return 'bad';
    left = Number.parseInt(size[1], 16);
    return left === 0 ? 'trailer' : 'data';
  }

  /** @param {Buffer} bytes @param {number} from @returns {number} first unread byte */
  function readLine(bytes, from) {
    const end = bytes.indexOf(0x0a, from);
    line += bytes.toString('latin1', from, end < 0 ? bytes.length : end);
    if (line.length > MAX_LINE_BYTES) phase = 'bad';
    if (end < 0) return bytes.length;
    phase = phase !== 'bad' && line.endsWith('\r') ? afterLine(line.slice(0, -1)) : 'bad';
    line = '';
    return end + 1;
  }

  return {
    begin() {
      phase = 'size';
      left = 0;
      line = '';
      trailers = 0;
    },
    /**
     * @param {Buffer} bytes
     * @param {number} from
     * @returns {number} where reading stopped: the end of `bytes`, or of the body, or at a fault
     */
    read(bytes, from) {
      let at = from;
      while (at < bytes.length && phase !== 'done' && phase !== 'bad') {
        if (phase !== 'data') {
          at = readLine(bytes, at);
          continue;
        }
        const to = Math.min(bytes.length, at + left);
        append(bytes.subarray(at, to));
        left -= to - at;
        at = to;
        if (left === 0) phase = 'data end';
      }
      return at;
    },
    get done() {
      return phase === 'done';
    },
    get bad() {
      return phase === 'bad';
    },
  };
}
