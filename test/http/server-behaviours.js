/** Seeded behaviours of an HTTP server, right and wrong: a response as bytes, and how the connection ends. */
import { uniform } from '../../src/common/random.js';

/**
 * @typedef {object} ServerBehaviour each field names the variant that was drawn
 * @property {string} version
 * @property {string} status
 * @property {string} reason
 * @property {string} interim
 * @property {string} framing
 * @property {string} chunks
 * @property {string} field a field line beside those of the framing
 * @property {string} connection
 * @property {string} after bytes behind the response
 * @property {'close' | 'reset'} end
 * @property {number | null} cutAt bytes sent before the end; null: all
 * @property {Buffer} bytes
 */

const BODY = 'hello';

/** @type {Record<string, string>} */
const VERSIONS = {
  'HTTP/1.1': 'HTTP/1.1',
  'HTTP/1.0': 'HTTP/1.0',
  'HTTP/1.2': 'HTTP/1.2',
  'HTTP/2.0': 'HTTP/2.0',
};
/** @type {Record<string, string>} */
const STATUSES = {
  200: '200',
  204: '204',
  304: '304',
  404: '404',
  503: '503',
  999: '999',
  20: '20',
  '099': '099',
};
/** @type {Record<string, string>} */
const REASONS = {
  OK: ' OK',
  empty: ' ',
  none: '',
  'with a tab': ' O\tK',
  'with NUL': ' O\0K',
  latin1: ' \xe9',
};
/** @type {Record<string, string>} */
const INTERIMS = {
  none: '',
  100: 'HTTP/1.1 100 Continue\r\n\r\n',
  102: 'HTTP/1.1 102 Processing\r\n\r\n',
  103: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  '103 twice': 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
  '101 with Upgrade': 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  '101 without Upgrade': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
};
/** @type {Record<string, string>} */
const FRAMINGS = {
  length: 'Content-Length: 5\r\n',
  'length 0': 'Content-Length: 0\r\n',
  'length too small': 'Content-Length: 3\r\n',
  'length too large': 'Content-Length: 9\r\n',
  'equal lengths': 'Content-Length: 5\r\nContent-Length: 5\r\n',
  'equal lengths in a list': 'Content-Length: 5, 5\r\n',
  'different lengths': 'Content-Length: 5\r\nContent-Length: 4\r\n',
  'length +5': 'Content-Length: +5\r\n',
  'length 0x5': 'Content-Length: 0x5\r\n',
  'length -1': 'Content-Length: -1\r\n',
  'length with spaces': 'Content-Length:  5 \r\n',
  'empty length': 'Content-Length:\r\n',
  chunked: 'Transfer-Encoding: chunked\r\n',
  Chunked: 'transfer-encoding:Chunked\r\n',
  'gzip, chunked': 'Transfer-Encoding: gzip, chunked\r\n',
  'chunked, gzip': 'Transfer-Encoding: chunked, gzip\r\n',
  identity: 'Transfer-Encoding: identity\r\n',
  'chunked and length': 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
  'chunked twice': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
  close: '',
};
/** @type {Record<string, string>} */
const CHUNKS = {
  one: '5\r\nhello\r\n0\r\n\r\n',
  'one a byte': '1\r\nh\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n',
  'leading zeros': '0005\r\nhello\r\n000\r\n\r\n',
  extension: '5;a=b\r\nhello\r\n0\r\n\r\n',
  'quoted extension': '5;a="b;c"\r\nhello\r\n0;d\r\n\r\n',
  'space after size': '5 \r\nhello\r\n0\r\n\r\n',
  'space before extension': '5 ;a\r\nhello\r\n0\r\n\r\n',
  trailer: '5\r\nhello\r\n0\r\nX: y\r\n\r\n',
  'trailer without colon': '5\r\nhello\r\n0\r\nX\r\n\r\n',
  'size too small': '3\r\nhello\r\n0\r\n\r\n',
  'size too large': '9\r\nhello\r\n0\r\n\r\n',
  'no size': '\r\nhello\r\n0\r\n\r\n',
  'size zz': 'zz\r\nhello\r\n0\r\n\r\n',
  'size -5': '-5\r\nhello\r\n0\r\n\r\n',
  'size 0x5': '0x5\r\nhello\r\n0\r\n\r\n',
  'size of 17 digits': '00000000000000005\r\nhello\r\n0\r\n\r\n',
  'size beyond 2^63': 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  'line feeds alone': '5\nhello\n0\n\n',
  'no last chunk': '5\r\nhello\r\n',
  'no end of trailers': '5\r\nhello\r\n0\r\n',
};
/** @type {Record<string, string>} */
const FIELDS = {
  none: '',
  usual: 'Content-Type: application/json\r\n',
  'without a space': 'X:y\r\n',
  'empty value': 'X:\r\n',
  folded: 'X: a\r\n b\r\n',
  'space before the colon': 'X : y\r\n',
  'no colon': 'X\r\n',
  'no name': ': y\r\n',
  'NUL in the value': 'X: a\0b\r\n',
  'latin1 value': 'X: \xe9\r\n',
  'CR in the value': 'X: a\rb\r\n',
  'line feed alone': 'X: y\n',
  'space in the name': 'X Y: z\r\n',
  '60 fields': 'X: y\r\n'.repeat(60),
  '10 kB': `X: ${'y'.repeat(10_000)}\r\n`,
  '100 kB': `X: ${'y'.repeat(100_000)}\r\n`,
  'keep-alive time': 'Keep-Alive: timeout=5, max=100\r\n',
};
/** @type {Record<string, string>} */
const CONNECTIONS = {
  none: '',
  'keep-alive': 'Connection: keep-alive\r\n',
  close: 'Connection: close\r\n',
  'Close, X': 'Connection: Close, X\r\n',
  upgrade: 'Connection: upgrade\r\nUpgrade: h2c\r\n',
};
/** @type {Record<string, string>} */
const AFTER = {
  nothing: '',
  'a line end': '\r\n',
  rubbish: 'rubbish',
  'another response': 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad',
};

/**
 * Half of the behaviours differ from a right one in about one place, so that each variant shows by itself.
 *
 * @param {number} seed
 * @param {number} number
 * @returns {ServerBehaviour}
 */
export function serverBehaviour(seed, number) {
  let draws = 0;
  const random = () => uniform(seed, number, draws++);
  const draw = (
    /** @type {Record<string, string>} */ from,
    usual = '',
    chance = number % 2 === 0 ? 0.1 : 0.3,
  ) => {
    const names = Object.keys(from);
    return random() < chance ? names[Math.floor(random() * names.length)] : usual;
  };
  const drawn = {
    version: draw(VERSIONS, 'HTTP/1.1'),
    status: draw(STATUSES, '200'),
    reason: draw(REASONS, 'OK'),
    interim: draw(INTERIMS, 'none'),
    framing: draw(FRAMINGS, 'length', 0.7),
    chunks: draw(CHUNKS, 'one', 0.6),
    field: draw(FIELDS, 'none'),
    connection: draw(CONNECTIONS, 'none'),
    after: draw(AFTER, 'nothing'),
  };
  const whole = bytesOf(drawn);
  const end = random() < 0.3 ? 'reset' : 'close';
  const cutAt = random() < 0.3 ? Math.floor(random() * whole.length) : null;
  return { ...drawn, end, cutAt, bytes: whole.subarray(0, cutAt ?? whole.length) };
}

/** @param {Omit<ServerBehaviour, 'end' | 'cutAt' | 'bytes'>} drawn */
function bytesOf({ version, status, reason, interim, framing, chunks, field, connection, after }) {
  const isChunked = FRAMINGS[framing].toLowerCase().includes('chunked');
  const hasBody = status !== '204' && status !== '304' && framing !== 'length 0';
  const body = isChunked ? CHUNKS[chunks] : BODY;
  return Buffer.from(
    `${INTERIMS[interim]}${VERSIONS[version]} ${STATUSES[status]}${REASONS[reason]}\r\n` +
      `${FRAMINGS[framing]}${FIELDS[field]}${CONNECTIONS[connection]}\r\n${hasBody ? body : ''}${AFTER[after]}`,
    'latin1',
  );
}
