/**
 * Ways to damage an OCSP response, most of them where the structure is: one element is changed and the lengths around it
 * are made to fit. Which way, where and how much follows from a seed and a number.
 */
import { hash32 } from '../../../src/common/random.js';
import { cloneNode, listNodes, writeNode } from './tree.js';
/** @import { Node } from './tree.js' */

/** @typedef {(most: number) => number} Draw an integer below `most` */
/** @typedef {{node: Node, parent: Node | null, at: number}} Place */
/** @typedef {(place: Place, draw: Draw, all: Place[]) => boolean | void} TreeMutator false: not possible here */

/** @param {number} seed @param {number} number @returns {Draw} */
export function createDraw(seed, number) {
  let stream = 0;
  return (most) => hash32(seed, number, stream++) % most;
}

/** @param {Draw} draw @param {readonly T[]} list @returns {T} @template T */
const pick = (draw, list) => list[draw(list.length)];

const ODD_OCTETS = [0, 1, 5, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xa0, 0xff];

/** @param {Draw} draw */
const octet = (draw) => (draw(2) === 0 ? draw(256) : pick(draw, ODD_OCTETS));

/** @param {Buffer} bytes @param {number} from @param {number} removed @param {...Uint8Array} put */
const splice = (bytes, from, removed, ...put) =>
  Buffer.concat([bytes.subarray(0, from), ...put, bytes.subarray(from + removed)]);

/** @type {Record<string, (bytes: Buffer, draw: Draw) => Buffer>} */
const BYTES = {
  'bit flipped': (bytes, draw) => {
    const out = Buffer.from(bytes);
    out[draw(out.length)] ^= 1 << draw(8);
    return out;
  },
  'octet set': (bytes, draw) => splice(bytes, draw(bytes.length), 1, Buffer.from([octet(draw)])),
  'octets inserted': (bytes, draw) =>
    splice(
      bytes,
      draw(bytes.length + 1),
      0,
      Buffer.from(Array.from({ length: 1 + draw(3) }, () => octet(draw))),
    ),
  'octets removed': (bytes, draw) => splice(bytes, draw(bytes.length), 1 + draw(3)),
  'cut off': (bytes, draw) => bytes.subarray(0, draw(bytes.length)),
  'octets behind': (bytes, draw) =>
    Buffer.concat([bytes, Buffer.from(Array.from({ length: 1 + draw(4) }, () => octet(draw)))]),
  'piece repeated': (bytes, draw) => {
    const from = draw(bytes.length);
    return splice(bytes, from, 0, bytes.subarray(from, from + 1 + draw(40)));
  },
  'octets swapped': (bytes, draw) => {
    const [a, b] = [draw(bytes.length), draw(bytes.length)];
    const out = Buffer.from(bytes);
    [out[a], out[b]] = [out[b], out[a]];
    return out;
  },
};

const TAGS = [1, 2, 3, 4, 5, 6, 10, 12, 19, 23, 24, 48, 49, 0x80, 0x81, 0x82, 0xa0, 0xa1, 0xa2, 0xa3, 31];
const SMALL = ['0500', '020100', '010100', '0a0101', '3000', '0400', '8000'].map((hex) =>
  Buffer.from(hex, 'hex'),
);
const OIDS = [
  '2a864886f70d01010b', // sha256WithRSAEncryption
  '2a864886f70d010105', // sha1WithRSAEncryption
  '2a864886f70d01010a', // RSASSA-PSS
  '2a8648ce3d040302', // ecdsa-with-SHA256
  '2a8648ce3d040303', // ecdsa-with-SHA384
  '2b0e03021a', // SHA-1
  '608648016503040201', // SHA-256
  '2b0601050507300101', // id-pkix-ocsp-basic
  '2b0601050507300102', // nonce
  '2b6570', // Ed25519
  '2a8003', // an arc that is not in its shortest form
  '2a83', // an arc cut off
  '',
];
const TIMES = [
  ...['20260229000000Z', '20240229000000Z', '20261301000000Z', '20260010000000Z', '20260101240000Z'],
  ...['20260101006000Z', '20260101000060Z', '20260101000000', '20260101000000.5Z', '20260101000000+0100'],
  ...['202601010000Z', '2026010100Z', '00500101000000Z', '99991231235959Z', '20260101000000z'],
  ...[' 0260101000000Z', '260101000000Z', '500101000000Z', ''],
];

const text = (/** @type {string} */ value) => Buffer.from(value, 'latin1');

/** @param {Node} node @param {Buffer} content */
function setContent(node, content) {
  node.content = content;
  node.children = null;
}

/** @param {number} tag @param {number[]} tags */
const isOf = (tag, ...tags) => tags.includes(tag);

/** @type {Record<string, TreeMutator>} */
const TREE = {
  'tag changed': ({ node }, draw) => {
    node.tag = draw(3) === 0 ? node.tag ^ (1 << draw(8)) : pick(draw, TAGS);
  },
  'length wrong': ({ node }, draw) => {
    node.lie = pick(draw, [-2, -1, 1, 2, 127, 128, 256, 65536]);
  },
  'length padded': ({ node }, draw) => {
    node.padding = 1 + draw(4);
  },
  'length indefinite': ({ node }) => {
    node.padding = 'indefinite';
  },
  'child removed': ({ parent, at }) => parent !== null && parent.children?.splice(at, 1) !== undefined,
  'child repeated': ({ node, parent, at }) =>
    parent !== null && parent.children?.splice(at, 0, cloneNode(node)) !== undefined,
  'children swapped': ({ node }, draw) => {
    const { children } = node;
    if (children === null || children.length < 2) return false;
    const a = draw(children.length);
    const b = (a + 1 + draw(children.length - 1)) % children.length;
    [children[a], children[b]] = [children[b], children[a]];
  },
  'child added': ({ node }, draw) => {
    if (node.children === null) return false;
    const [tag, , ...content] = pick(draw, SMALL);
    const child = { tag, content: Buffer.from(content), children: null };
    node.children.splice(draw(node.children.length + 1), 0, child);
  },
  'element of elsewhere': ({ parent, at }, draw, all) => {
    if (parent === null) return false;
    parent.children?.splice(at, 1, cloneNode(pick(draw, all.slice(1)).node));
  },
  wrapped: ({ node, parent, at }, draw) => {
    if (parent === null) return false;
    const wrapper = {
      tag: pick(draw, [0xa0, 0xa1, 0xa2, 0x30, 0x04]),
      content: node.content,
      children: [node],
    };
    parent.children?.splice(at, 1, wrapper);
  },
  'made of pieces': ({ node }, draw) => {
    if (!isOf(node.tag, 0x04, 0x03) || node.children !== null) return false;
    const half = draw(node.content.length + 1);
    const parts = [node.content.subarray(0, half), node.content.subarray(half)];
    node.children = parts.map((content) => ({ tag: node.tag, content, children: null }));
    node.tag |= 0x20;
  },
  'contents emptied': ({ node }) => setContent(node, Buffer.alloc(0)),
  'contents random': ({ node }, draw) =>
    setContent(node, Buffer.from(Array.from({ length: draw(24) }, () => octet(draw)))),
  'contents one octet more or less': ({ node }, draw) => {
    const more = Buffer.from([octet(draw)]);
    if (node.children !== null) return false;
    setContent(
      node,
      pick(draw, [
        Buffer.concat([node.content, more]),
        Buffer.concat([more, node.content]),
        node.content.subarray(1),
      ]),
    );
  },
  'number padded': ({ node }, draw) => {
    if (!isOf(node.tag, 0x02, 0x0a)) return false;
    setContent(node, Buffer.concat([Buffer.from([pick(draw, [0, 0xff])]), node.content]));
  },
  'number another': ({ node }, draw) => {
    if (!isOf(node.tag, 0x02, 0x0a)) return false;
    setContent(node, Buffer.from([octet(draw)]));
  },
  'time another': ({ node }, draw) => {
    if (!isOf(node.tag, 0x17, 0x18)) return false;
    const other = pick(draw, TIMES);
    const digit = draw(Math.max(1, node.content.length));
    const changed = splice(node.content, digit, 1, text(String(draw(10))));
    setContent(node, draw(2) === 0 ? text(other) : changed);
    if (draw(8) === 0) node.tag ^= 0x17 ^ 0x18;
  },
  'OID another': ({ node }, draw) => {
    if (node.tag !== 0x06) return false;
    setContent(node, Buffer.from(pick(draw, OIDS), 'hex'));
  },
  'boolean another': ({ node, parent, at }, draw) => {
    if (node.tag === 0x01) return setContent(node, Buffer.from([octet(draw)]));
    if (parent === null || at === 0 || parent.children?.[0].tag !== 0x06) return false;
    parent.children.splice(at, 0, {
      tag: 0x01,
      content: Buffer.from([pick(draw, [0, 0xff, 1])]),
      children: null,
    });
  },
  'unused bits': ({ node }, draw) => {
    if (node.tag !== 0x03 || node.content.length === 0) return false;
    setContent(node, splice(node.content, 0, 1, Buffer.from([draw(10)])));
  },
};

const BYTE_WAYS = Object.keys(BYTES);
const TREE_WAYS = Object.keys(TREE);
export const WAYS = Object.freeze([...TREE_WAYS, ...BYTE_WAYS]);

/**
 * Mutant number `number`: one change mostly, now and then two or three; four in five where the structure is.
 * @param {{bytes: Buffer, root: Node}} original
 * @param {Draw} draw
 * @returns {{bytes: Buffer, ways: string[]}}
 */
export function mutate({ bytes, root }, draw) {
  /** @type {string[]} */
  const ways = [];
  const changes = draw(4) === 0 ? 2 + draw(2) : 1;
  const inTree = draw(5) === 0 ? 0 : draw(8) === 0 ? changes - 1 : changes;
  let out = bytes;
  if (inTree > 0) {
    const copy = cloneNode(root);
    for (let i = 0; i < inTree; i++) ways.push(mutateTree(copy, draw));
    out = writeNode(copy);
  }
  while (ways.length < changes && out.length > 0) {
    const way = pick(draw, BYTE_WAYS);
    out = BYTES[way](out, draw);
    ways.push(way);
  }
  return { bytes: out, ways };
}

/** @param {Node} root changed in place @param {Draw} draw */
function mutateTree(root, draw) {
  for (;;) {
    const all = listNodes(root);
    const way = pick(draw, TREE_WAYS);
    for (let tries = 0; tries < 40; tries++) {
      if (TREE[way](pick(draw, all), draw, all) !== false) return way;
    }
  }
}
