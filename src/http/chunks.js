/** The chunked transfer coding, read piece by piece as it comes. RFC 9112, 7.1. */
import { FIELD } from './answer-head.js';

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
/** No white space around extensions: RFC 9112 would have it read, Node refuses it, nobody sends it. */
const SIZE_LINE = new RegExp(`^([0-9a-fA-F]{1,8})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`);

/** Of a size line with its extensions, and of all trailer fields. */
const MAX_LINE_BYTES = 4096;
const MAX_TRAILERS = 100;

/** @typedef {'size' | 'data' | 'data end' | 'trailer' | 'done' | 'bad'} Phase */

/**
 * @param {(bytes: Uint8Array) => void} append takes the next part of the body; only lent
 */
export function createChunkReader(append) {
  /** @type {Phase} */
  let phase = 'size';
  /** Bytes of the chunk that are still to come. */
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

  /** @param {Buffer} bytes @param {number} from @returns {number} first byte that is not read yet */
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
