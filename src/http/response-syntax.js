/** The head of an HTTP/1.1 response, and the chunked transfer coding. RFC 9112, sections 2 to 7. */

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
export const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;
const LENGTH = /^\d{1,15}$/;

/**
 * @param {string} text latin1, without the empty line that ends it
 * @returns {ResponseHead | null} null: not HTTP/1.x, or the end of its body is ambiguous
 */
export function parseResponseHead(text) {
  const [first, ...lines] = text.split('\r\n');
  const start = STATUS_LINE.exec(first);
  if (start === null) return null;
  const fields = readFields(lines);
  if (fields === null) return null;
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
  return {
    status,
    ...end,
    reusable: stays && !isDoubtful && end.framing !== 'close',
    keepAliveMs: keepAliveOf(fields.get('keep-alive')),
  };
}

/**
 * @param {string[]} lines
 * @returns {Map<string, string> | null} values of one name joined with a comma (RFC 9110, 5.3)
 */
function readFields(lines) {
  /** @type {Map<string, string>} */
  const fields = new Map();
  for (const line of lines) {
    const field = FIELD.exec(line);
    if (field === null) return null;
    const name = field[1].toLowerCase();
    const value = field[2].trimEnd();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before},${value}`);
  }
  return fields;
}

/**
 * @param {number} status
 * @param {Map<string, string>} fields
 * @returns {{framing: ResponseHead['framing'], length: number} | null}
 */
function framingOf(status, fields) {
  if (status < 200 || status === 204 || status === 304) return { framing: 'none', length: 0 };
  if (fields.has('transfer-encoding')) {
    const isChunked = tokensOf(fields.get('transfer-encoding')).at(-1) === 'chunked';
    return { framing: isChunked ? 'chunked' : 'close', length: 0 };
  }
  const given = fields.get('content-length');
  if (given === undefined) return { framing: 'close', length: 0 };
  const lengths = new Set(tokensOf(given));
  const [length] = lengths;
  return lengths.size === 1 && LENGTH.test(length) ? { framing: 'length', length: Number(length) } : null;
}

/** @param {string | undefined} list */
function tokensOf(list) {
  return list === undefined ? [] : list.split(',').map((token) => token.trim().toLowerCase());
}

/** @param {string | undefined} value `timeout=5, max=100`, seconds (RFC 2068, 19.7.1.1) */
function keepAliveOf(value) {
  const timeout = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,6})/i.exec(value ?? '');
  return timeout === null ? null : Number(timeout[1]) * 1000;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
/** No white space around extensions: RFC 9112 allows it, Node refuses it, servers do not send it. */
const SIZE_LINE = new RegExp(`^([0-9a-fA-F]{1,8})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`);

/** Of a size line with its extensions, and of all trailer fields. */
const MAX_LINE_BYTES = 4096;
const MAX_TRAILERS = 100;

/** @typedef {'size' | 'data' | 'data end' | 'trailer' | 'done' | 'bad'} Phase */

/** @param {(bytes: Uint8Array) => void} append gets the next part of the body, valid only during the call */
export function createChunkReader(append) {
  /** @type {Phase} */
  let phase = 'size';
  /** Bytes missing of the chunk. */
  let left = 0;
  let line = '';
  let trailers = 0;

  /** @param {string} whole without its line break @returns {Phase} */
  function afterLine(whole) {
    if (phase === 'data end') return whole === '' ? 'size' : 'bad';
    if (phase === 'trailer') return afterTrailer(whole);
    const size = SIZE_LINE.exec(whole);
    if (size === null) return 'bad';
    left = Number.parseInt(size[1], 16);
    return left === 0 ? 'trailer' : 'data';
  }

  /** @param {string} whole @returns {Phase} */
  function afterTrailer(whole) {
    if (whole === '') return 'done';
    return FIELD.test(whole) && ++trailers <= MAX_TRAILERS ? 'trailer' : 'bad';
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
