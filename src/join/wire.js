/**
 * Messages between two parts of a joined run, over one TCP connection. Both sides prove that they know the shared secret, by
 * HMAC-SHA-256 (RFC 2104) of random nonces; the secret itself never travels. Each message is then a frame
 *
 *   length (4 bytes, big-endian) | HMAC (32 bytes) of a counter (8 bytes) and the text | text (JSON, UTF-8)
 *
 * with a key of its own for each direction and connection, so that no frame can be forged, changed, repeated, left out or
 * moved. The member speaks first, and the leader sends nothing before it has seen the member's proof: a stranger learns
 * nothing. A proof that a stranger recorded gets one nonce, once, and no further. Texts are not encrypted: they contain no secret.
 */
import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { isTooCostly } from '../common/json.js';
import { redactData } from '../common/sanitize.js';

/** @typedef {ReturnType<typeof createWire>} Wire */
/** @typedef {Record<string, any> & {type: string}} WireMessage authentic, but not validated */
/** @typedef {Pick<import('node:net').Socket, 'write' | 'end' | 'destroy'> & {on: (event: any, call: (data: any) => void) => any}} Socket */

const [NONCE_BYTES, MAC_BYTES, LENGTH_BYTES] = [32, 32, 4];
const PROOF_BYTES = NONCE_BYTES + MAC_BYTES;

/** Of a text: before and after the first authentic frame. A result is as long as a file may be. */
const [MAX_FIRST_BYTES, MAX_BYTES] = [2 ** 16, 400 * 2 ** 20];

/** Lower than for files: a message has no white space, so a count of one digit takes only 2 bytes, `0,`. */
const PER_ITEM = 1;

/** Max time until the first authentic frame, and between any bytes after it. */
export const [GREET_WITHIN_MS, SILENCE_MS] = [3000, 15_000];

/** Why part 0 closes the connection of a stranger. */
export const NOT_PROVEN = 'it does not know the secret';
const HUNG_UP = 'it hung up, as part 0 does if the secrets differ';

/** Slows down guessing from recorded proofs; takes 50 ms. @param {string} secret */
export const keyOf = (secret) => scryptSync(secret, 'vault-pki-load/join/1', MAC_BYTES);

/** @param {Buffer} key @param {...(string | Buffer)} parts */
function macOf(key, ...parts) {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/**
 * @param {Socket} socket connected
 * @param {{key: Buffer, isLeader: boolean, onOpen?: () => void, onMessage: (message: WireMessage, bytes: number) => void,
 *   onClose: (why: string) => void, silenceMs?: number, proved?: Set<string>, maxBytes?: () => number}} options `onOpen`: the other side has proved that it knows the secret;
 *   `proved`: random numbers of earlier proofs, which a new proof must not repeat; `maxBytes`: of the next text; `onMessage`: gets each message and its length; if it throws, the connection closes;
 *   `onClose`: called once; `why` is a clause
 */
export function createWire(
  socket,
  {
    key,
    isLeader,
    onOpen,
    onMessage,
    onClose,
    silenceMs = SILENCE_MS,
    proved = new Set(),
    maxBytes = () => MAX_BYTES,
  },
) {
  const nonce = randomBytes(NONCE_BYTES);
  const [own, other] = isLeader ? ['leader', 'member'] : ['member', 'leader'];
  /** Of frames, by direction; null before the other side's proof. @type {{own: Buffer, other: Buffer} | null} */
  let keys = null;
  const counters = { own: 0n, other: 0n };
  /** Received, but not read. @type {Buffer[]} */
  let chunks = [];
  let size = 0;
  let isTrusted = false;
  let maxSilenceMs = silenceMs;
  let isClosed = false;
  let timer = setTimeout(close, GREET_WITHIN_MS, 'it did not prove in time that it knows the secret');

  /** @param {string} why @returns {false} */
  function close(why) {
    if (isClosed) return false;
    isClosed = true;
    clearTimeout(timer);
    socket.destroy();
    onClose(why);
    return false;
  }

  /** @param {number} bytes @returns {Buffer | null} null: they have not arrived */
  function peek(bytes) {
    if (size < bytes) return null;
    if (chunks[0].length < bytes) chunks = [Buffer.concat(chunks)];
    return chunks[0].subarray(0, bytes);
  }

  /** @param {number} bytes */
  function take(bytes) {
    const taken = peek(bytes);
    if (taken === null) return null;
    chunks[0] = chunks[0].subarray(bytes);
    // Even an empty rest would keep the whole chunk in memory.
    if (chunks[0].length === 0) chunks.shift();
    size -= bytes;
    return taken;
  }

  /** The member's proof covers its nonce; the leader's, both. @param {string} side @param {...Buffer} nonces */
  const proofOf = (side, ...nonces) => macOf(key, 'proof', side, ...nonces);

  /** Reads the other side's proof; a leader then sends its own. @returns {boolean} whether it has arrived and is right */
  function greet() {
    const taken = take(PROOF_BYTES);
    if (taken === null) return false;
    const [theirs, proof] = [taken.subarray(0, NONCE_BYTES), taken.subarray(NONCE_BYTES)];
    const nonces = isLeader ? [theirs, nonce] : [nonce, theirs];
    const expected = isLeader ? proofOf(other, theirs) : proofOf(other, ...nonces);
    if (!timingSafeEqual(proof, expected)) return close(isLeader ? NOT_PROVEN : 'no part 0 answers there');
    const name = theirs.toString('hex');
    if (proved.has(name)) return close(NOT_PROVEN);
    proved.add(name);
    if (isLeader) socket.write(Buffer.concat([nonce, proofOf(own, ...nonces)]));
    const session = macOf(key, 'session', ...nonces);
    keys = { own: macOf(session, own), other: macOf(session, other) };
    if (!isLeader) open();
    return true;
  }

  function expectMore() {
    clearTimeout(timer);
    // If this process was busy, bytes have arrived by now, and are read before the second timer fires.
    const graceMs = maxSilenceMs / 10;
    timer = setTimeout(() => {
      timer = setTimeout(close, graceMs, `it was silent for ${maxSilenceMs / 1000} s`);
    }, maxSilenceMs - graceMs);
  }

  /** The other side is no stranger. */
  function open() {
    isTrusted = true;
    expectMore();
    onOpen?.();
  }

  /** @param {{other: Buffer}} keys @returns {boolean} whether a frame has arrived and is authentic */
  function read({ other }) {
    const length = peek(LENGTH_BYTES)?.readUInt32BE(0);
    if (length === undefined) return false;
    if (length > (isTrusted ? Math.min(maxBytes(), MAX_BYTES) : MAX_FIRST_BYTES))
      return close('it sent too long a message');
    const frame = take(LENGTH_BYTES + MAC_BYTES + length);
    if (frame === null) return false;
    const mac = frame.subarray(LENGTH_BYTES, LENGTH_BYTES + MAC_BYTES);
    const text = frame.subarray(LENGTH_BYTES + MAC_BYTES);
    if (!timingSafeEqual(mac, frameMac(other, counters.other++, text)))
      return close('it sent a message that is not authentic');
    if (!isTrusted) open();
    const message = parse(text);
    if (message === null) return close('it sent a message that cannot be read');
    try {
      onMessage(message, text.length);
    } catch (error) {
      const { issues = [], message } = /** @type {Error & {issues?: {message: string}[]}} */ (error);
      return close(`it sent something wrong (${(issues[0]?.message ?? message).slice(0, 300)})`);
    }
    return true;
  }

  socket.on('data', (/** @type {Buffer} */ chunk) => {
    if (isClosed) return;
    chunks.push(chunk);
    size += chunk.length;
    if (isTrusted) expectMore();
    let isRead = true;
    while (isRead && !isClosed) isRead = keys === null ? greet() : read(keys);
  });
  socket.on('error', () => {});
  socket.on('close', () => close(keys === null && !isLeader ? HUNG_UP : 'its connection closed'));
  if (!isLeader) socket.write(Buffer.concat([nonce, proofOf(own, nonce)]));

  return {
    /** After onOpen. @param {WireMessage} message a `report` is long, and contains only numbers and names of outcomes */
    send(message) {
      if (isClosed || keys === null) return;
      // A server may have echoed this part's token into a text; the other part does not know it, and would print it.
      const safe = message.type === 'report' ? message : redactData(message);
      const text = Buffer.from(JSON.stringify(safe));
      const head = Buffer.alloc(LENGTH_BYTES);
      head.writeUInt32BE(text.length);
      socket.write(Buffer.concat([head, frameMac(keys.own, counters.own++, text), text]));
    },
    /** The other side knows the secret, or has recorded the greeting of one that does. */
    hasProved: () => keys !== null,
    /** Of the other side, from now on. @param {number} [ms] default: as at first */
    allowSilence(ms = silenceMs) {
      maxSilenceMs = ms;
      if (isTrusted && !isClosed) expectMore();
    },
    /** Closes the connection after all that was sent. */
    end() {
      if (isClosed) return;
      if (keys === null) return void close('it is a stranger');
      isClosed = true;
      clearTimeout(timer);
      socket.end();
      setTimeout(() => socket.destroy(), GREET_WITHIN_MS).unref();
    },
    close,
  };
}

/** @param {Buffer} key @param {bigint} counter @param {Buffer} text */
function frameMac(key, counter, text) {
  const count = Buffer.alloc(8);
  count.writeBigUInt64BE(counter);
  return macOf(key, count, text);
}

/** @param {Buffer} text @returns {WireMessage | null} null: none, or too costly */
function parse(text) {
  if (isTooCostly(text, { perItem: PER_ITEM })) return null;
  try {
    const message = JSON.parse(text.toString());
    return typeof message?.type === 'string' ? message : null;
  } catch {
    return null;
  }
}
