/**
 * DER as a tree that can be taken apart and put together again, right or wrong: for mutants whose outer lengths fit, so
 * that the fault lies where it was put. Knows nothing of the reader under test. Reads only what is sound.
 */
import { Breach, decode } from './grammar.js';

/** @import { Element } from './grammar.js' */

/**
 * @typedef {object} Node
 * @property {number} tag identifier octet
 * @property {Buffer} content of a primitive without children
 * @property {Node[] | null} children of a constructed element, or of an OCTET STRING that holds DER
 * @property {'indefinite' | number} [padding] a length that DER forbids: so many octets more than needed
 * @property {number} [lie] added to the length that is written, not to what follows it
 */

const OCTET_STRING = 0x04;

/** @param {Buffer} bytes sound DER of any number of elements @returns {Node[]} */
export const readNodes = (bytes) => decode(bytes).map(nodeOf);

/** @param {Element} element @returns {Node} */
function nodeOf({ tag, content, children }) {
  const own = (tag & 0x20) !== 0 ? children.map(nodeOf) : null;
  return { tag, content: Buffer.from(content), children: tag === OCTET_STRING ? nested(content) : own };
}

/** @param {Buffer} content of an OCTET STRING @returns {Node[] | null} null where it holds no DER */
function nested(content) {
  try {
    return content.length > 0 ? readNodes(content) : null;
  } catch (error) {
    if (error instanceof Breach) return null;
    throw error;
  }
}

/** @param {Node} node @returns {Buffer} */
export function writeNode({ tag, content, children, padding = 0, lie = 0 }) {
  const body = children === null ? content : Buffer.concat(children.map(writeNode));
  if (padding === 'indefinite') return Buffer.concat([Buffer.from([tag, 0x80]), body, Buffer.alloc(2)]);
  return Buffer.concat([Buffer.from([tag]), lengthOctets(Math.max(0, body.length + lie), padding), body]);
}

/** @param {number} length @param {number} padding */
function lengthOctets(length, padding) {
  if (length < 0x80 && padding === 0) return Buffer.from([length]);
  const digits = length.toString(16);
  const octets = Math.ceil(digits.length / 2) + (length < 0x80 ? padding - 1 : padding);
  return Buffer.concat([Buffer.from([0x80 | octets]), Buffer.from(digits.padStart(octets * 2, '0'), 'hex')]);
}

/** @param {Node} node @returns {Node} */
export function cloneNode(node) {
  return { ...node, children: node.children === null ? null : node.children.map(cloneNode) };
}

/**
 * @param {Node} root
 * @returns {{node: Node, parent: Node | null, at: number}[]} all, the root first; `at`: which child of its parent
 */
export function listNodes(root) {
  /** @type {{node: Node, parent: Node | null, at: number}[]} */
  const all = [{ node: root, parent: null, at: 0 }];
  for (let i = 0; i < all.length; i++) {
    const { node } = all[i];
    node.children?.forEach((child, at) => {
      all.push({ node: child, parent: node, at });
    });
  }
  return all;
}
