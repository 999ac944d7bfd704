/**
 * HTTP/2 on the wire: frames (RFC 9113, sections 4 and 6) and header blocks (HPACK, RFC 7541). Neither side uses a
 * dynamic table: this one sets its size to 0, and SETTINGS_HEADER_TABLE_SIZE 0 demands the same of the server. So no
 * header block depends on another, and none can expand.
 */
import { checkedFields, checkPath, METHODS_WITH_BODY } from './exchange.js';

/** @import { Request } from './exchange.js' */

export const TYPE = Object.freeze({
  ...{ DATA: 0, HEADERS: 1, PRIORITY: 2, RST_STREAM: 3, SETTINGS: 4, PUSH_PROMISE: 5 },
  ...{ PING: 6, GOAWAY: 7, WINDOW_UPDATE: 8, CONTINUATION: 9 },
});
export const FLAG = Object.freeze({
  END_STREAM: 0x1,
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
});
/** Error codes: RFC 9113, 7. */
export const CODE = Object.freeze({ REFUSED_STREAM: 7, CANCEL: 8, HTTP_1_1_REQUIRED: 13 });
const SETTING = Object.freeze({ HEADER_TABLE_SIZE: 1, ENABLE_PUSH: 2, STREAMS: 3, WINDOW: 4, HEADERS: 6 });

export const HEAD_BYTES = 9;
/** Each side accepts at least this much in a frame; this one never more. */
export const MAX_FRAME_BYTES = 16_384;
/** Of a flow-control window: RFC 9113, 6.9.1. */
export const MAX_WINDOW = 0x7fff_ffff;
export const INITIAL_WINDOW = 65_535;

/** @param {number} type @param {number} flags @param {number} stream @param {Uint8Array} [payload] up to MAX_FRAME_BYTES */
export function frame(type, flags, stream, payload = new Uint8Array()) {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

/** @param {number} type with a payload of one number @param {number} stream @param {number} value 32 bits */
export function numberFrame(type, stream, value) {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return frame(type, 0, stream, payload);
}

/** @param {Uint8Array} block @param {boolean} isLast the request has no body @param {number} stream */
export function headersFrames(block, isLast, stream) {
  const end = isLast ? FLAG.END_STREAM : 0;
  if (block.length <= MAX_FRAME_BYTES) return frame(TYPE.HEADERS, FLAG.END_HEADERS | end, stream, block);
  const frames = [frame(TYPE.HEADERS, end, stream, block.subarray(0, MAX_FRAME_BYTES))];
  for (let at = MAX_FRAME_BYTES; at < block.length; at += MAX_FRAME_BYTES) {
    const flags = at + MAX_FRAME_BYTES < block.length ? 0 : FLAG.END_HEADERS;
    frames.push(frame(TYPE.CONTINUATION, flags, stream, block.subarray(at, at + MAX_FRAME_BYTES)));
  }
  return Buffer.concat(frames);
}

/** @param {number} streamWindow bytes of a response before this client grants more @param {number} maxHeaderBytes */
export function clientPreface(streamWindow, maxHeaderBytes) {
  const settings = [
    [SETTING.HEADER_TABLE_SIZE, 0],
    [SETTING.ENABLE_PUSH, 0],
    [SETTING.WINDOW, streamWindow],
    [SETTING.HEADERS, maxHeaderBytes],
  ];
  const payload = Buffer.alloc(settings.length * 6);
  for (const [i, [name, value]] of settings.entries())
    payload.writeUInt32BE(value, payload.writeUInt16BE(name, 6 * i));
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(TYPE.SETTINGS, 0, 0, payload),
    numberFrame(TYPE.WINDOW_UPDATE, 0, MAX_WINDOW - INITIAL_WINDOW),
  ]);
}

/** @param {Buffer} payload of SETTINGS @returns {{streams?: number, window?: number} | null} null: malformed */
export function readSettings(payload) {
  if (payload.length % 6 !== 0) return null;
  /** @type {{streams?: number, window?: number}} */
  const settings = {};
  for (let at = 0; at < payload.length; at += 6) {
    const [name, value] = [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)];
    if (name === SETTING.STREAMS) settings.streams = value;
    if (name === SETTING.WINDOW) settings.window = value;
  }
  return (settings.window ?? 0) > MAX_WINDOW ? null : settings;
}

/** Removes padding and priority. @param {Buffer} payload @param {number} flags @returns {Buffer | null} null: malformed */
export function contentOf(payload, flags) {
  const isPadded = (flags & FLAG.PADDED) !== 0;
  const from = (isPadded ? 1 : 0) + ((flags & FLAG.PRIORITY) !== 0 ? 5 : 0);
  const to = payload.length - (isPadded ? payload[0] : 0);
  // NaN: padded, but without the length of its padding.
  return from <= to ? payload.subarray(from, to) : null;
}

/** Never indexed, so that no proxy keeps a token: RFC 7541, 6.2.3 and 7.1.3. */
const LITERAL = 0x10;
/** The size of the dynamic table, in the first byte of a block: RFC 7541, 6.3. */
const TABLE_SIZE = 0x20;
/** Fields of a connection, and the one that `:authority` replaces. */
const FORBIDDEN = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Reuses the block when the same request object comes twice in a row, and the fields of the same headers object.
 * @param {string} host for `:authority` @param {'http' | 'https'} scheme
 * @returns {(request: Request) => Buffer} throws a TypeError for a path or header field that HTTP does not allow
 */
export function createBlockEncoder(host, scheme) {
  // Due once, after the ACK of a smaller SETTINGS_HEADER_TABLE_SIZE (RFC 9113, 4.3.1), and always allowed: in each
  // block, so that a block fits every connection.
  const first = Buffer.from([TABLE_SIZE, scheme === 'https' ? 0x87 : 0x86]);
  const start = Buffer.concat([first, literal(':authority', host)]);
  let last = { request: /** @type {Request | null} */ (null), block: Buffer.alloc(0) };
  let fields = { headers: /** @type {Request['headers'] | null} */ (null), bytes: Buffer.alloc(0) };
  return (request) => {
    if (request === last.request) return last.block;
    const { method, path, headers, body } = request;
    checkPath(path);
    if (headers !== fields.headers) fields = { headers, bytes: encodeFields(headers) };
    const length = body === null ? 0 : Buffer.byteLength(body);
    const parts = [start, literal(':method', method), literal(':path', path), fields.bytes];
    if (length > 0 || METHODS_WITH_BODY.has(method)) parts.push(literal('content-length', `${length}`));
    last = { request, block: Buffer.concat(parts) };
    return last.block;
  };
}

/** @param {Record<string, string>} headers */
function encodeFields(headers) {
  const fields = checkedFields(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]);
  return Buffer.concat(fields.filter(isAllowed).map(([name, value]) => literal(name, value)));
}

/** RFC 9113, 8.2.2. @param {string[]} field */
const isAllowed = ([name, value]) =>
  name === 'te' ? value.toLowerCase() === 'trailers' : !FORBIDDEN.has(name);

/** @param {string} name @param {string} value latin1 */
function literal(name, value) {
  const texts = [name, value].flatMap((text) => [
    Buffer.from(integer(text.length, 7)),
    Buffer.from(text, 'latin1'),
  ]);
  return Buffer.concat([Buffer.from([LITERAL]), ...texts]);
}

/** RFC 7541, 5.1. @param {number} value @param {number} bits of the first byte, the others 0 */
function integer(value, bits) {
  const most = 2 ** bits - 1;
  if (value < most) return [value];
  const bytes = [most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

/** Of the static table (RFC 7541, appendix A), by index from 8. */
const STATUSES = [200, 204, 206, 304, 400, 404, 500];
const [FIRST_STATUS, LAST_STATUS, CONTENT_LENGTH, LAST_STATIC] = [8, 14, 28, 61];

/** `:status` and `content-length` as text, and in the Huffman code of appendix B, which has one encoding of each. */
const NAMES = [':status', 'content-length'].map((name) => Buffer.from(name));
const HUFFMAN_NAMES = ['b8848d36a3', '21ea496a4ad416a9933f'].map((hex) => Buffer.from(hex, 'hex'));

/** @param {{text: Buffer, isHuffman: boolean}} name @returns {number} the index that stands for it; of another pseudo-header field, 1; of any other, the last */
function indexOfName({ text, isHuffman }) {
  const [status, length] = isHuffman ? HUFFMAN_NAMES : NAMES;
  if (text.equals(status)) return FIRST_STATUS;
  if (text.equals(length)) return CONTENT_LENGTH;
  // A colon, of 7 bits in Huffman code.
  return (isHuffman ? text[0] >> 1 === 0x5c : text[0] === 0x3a) ? 1 : LAST_STATIC;
}

/**
 * Only what a response needs: reads past all other fields. Malformed, too: other pseudo-header fields, or one after
 * other fields (RFC 9113, 8.3), and lengths that differ (RFC 9110, 8.6).
 * @param {Buffer} block @returns {{status: number, length: number | null} | null} 0: no status; null: malformed
 */
export function readHeaderBlock(block) {
  let [status, at] = [0, 0];
  let isPastStatus = false;
  let length = /** @type {number | null} */ (null);
  /** @param {number} bits @returns {number} NaN: malformed */
  const readInteger = (bits) => {
    const most = 2 ** bits - 1;
    let value = block[at++] & most;
    if (value < most) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = block[at++] ?? Number.NaN;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  /** @returns {{text: Buffer, isHuffman: boolean} | null} null: malformed */
  const readText = () => {
    const isHuffman = (block[at] & 0x80) !== 0;
    const end = readInteger(7) + at;
    if (!(end <= block.length)) return null;
    const text = block.subarray(at, end);
    at = end;
    return { text, isHuffman };
  };
  while (at < block.length) {
    const first = block[at];
    if (first >= 0x80) {
      const index = readInteger(7);
      if (!(index >= FIRST_STATUS && index <= LAST_STATIC)) return null;
      if (index > LAST_STATUS) {
        isPastStatus = true;
        continue;
      }
      if (status !== 0 || isPastStatus) return null;
      status = STATUSES[index - FIRST_STATUS];
      continue;
    }
    // It must be 0, and come first: RFC 7541, 4.2.
    if (first >= TABLE_SIZE && first < 0x40) {
      if (readInteger(5) !== 0 || status !== 0 || isPastStatus) return null;
      continue;
    }
    const number = readInteger(first >= 0x40 ? 6 : 4);
    const name = number === 0 ? readText() : null;
    const value = readText();
    if (value === null || (number === 0 && name === null)) return null;
    const index = name === null ? number : indexOfName(name);
    if (!(index >= FIRST_STATUS && index <= LAST_STATIC)) return null;
    const isStatus = index <= LAST_STATUS;
    isPastStatus ||= !isStatus;
    if (!isStatus && index !== CONTENT_LENGTH) continue;
    const digits = value.isHuffman ? readHuffmanDigits(value.text) : value.text.toString('latin1');
    if (isStatus && (status !== 0 || isPastStatus || !/^[1-9]\d\d$/.test(digits))) return null;
    if (isStatus) status = Number(digits);
    else if (!/^\d{1,15}$/.test(digits) || Number(digits) !== (length ?? Number(digits))) return null;
    else length = Number(digits);
  }
  return { status, length };
}

/** In RFC 7541, appendix B, 0 to 2 have the 5 bits of their value, 3 to 9 the 6 bits of their value + 22. */
function readHuffmanDigits(/** @type {Buffer} */ text) {
  let bits = '';
  for (const byte of text.subarray(0, 16)) bits += byte.toString(2).padStart(8, '0');
  let digits = '';
  let at = 0;
  for (; bits.length - at >= 5; ) {
    const [five, six] = [bits.slice(at, at + 5), bits.slice(at, at + 6)].map((one) =>
      Number.parseInt(one, 2),
    );
    if (five <= 2) digits += five;
    else if (six >= 25 && six <= 31 && bits.length - at >= 6) digits += six - 22;
    else break;
    at += five <= 2 ? 5 : 6;
  }
  return /^1{0,7}$/.test(bits.slice(at)) ? digits : '';
}
