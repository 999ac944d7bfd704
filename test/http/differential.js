/** The load's connection beside undici's, on thousands of server behaviours: every difference has a reason. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import pLimit from 'p-limit';
import { createRequester } from '../../src/http/request.js';
import { connectTo, exchange } from './raw-server.js';
import { serverBehaviour } from './server-behaviours.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { ServerBehaviour } from './server-behaviours.js' */

const SEED = 1;

/** Between the last byte and the end of the connection, so that the client has read the bytes. */
const END_DELAY_MS = 3;

/** @typedef {{reason: string, applies: (behaviour: ServerBehaviour) => boolean}} Difference */

const isWithoutBody = (/** @type {ServerBehaviour} */ { status }) => status === '204' || status === '304';
const isCloseDelimited = (/** @type {ServerBehaviour} */ { framing }) =>
  ['close', 'identity', 'chunked, gzip'].includes(framing);

/** Responses that the load accepts and undici does not. @type {Difference[]} */
const ACCEPTED_BY_US = [
  {
    reason: 'equal Content-Length fields count as one (RFC 9112, 6.3); undici joins their digits',
    applies: ({ framing }) => framing.startsWith('equal lengths'),
  },
  {
    reason: 'a client skips 100 Continue even if it did not expect it (RFC 9110, 15.2)',
    applies: ({ interim }) => interim === '100',
  },
  {
    reason: 'Transfer-Encoding overrides Content-Length (RFC 9112, 6.3); the connection is then closed',
    applies: ({ framing }) => framing === 'chunked and length',
  },
  {
    reason: '204 and 304 have no body, whatever their header says (RFC 9112, 6.3)',
    applies: isWithoutBody,
  },
];

/** Responses that undici accepts and the load does not. @type {Difference[]} */
const ACCEPTED_BY_UNDICI = [
  {
    reason:
      'a body that ends with the connection is complete only if the connection is closed, not reset (RFC 9112, 8)',
    applies: (behaviour) => isCloseDelimited(behaviour) && behaviour.end === 'reset',
  },
  {
    reason: 'NUL is not allowed in a reason phrase (RFC 9112, 4)',
    applies: ({ reason }) => reason === 'with NUL',
  },
  {
    reason: 'an HTTP/2.0 response to an HTTP/1.1 request is not HTTP/1.x (RFC 9112, 2.3)',
    applies: ({ version }) => version === 'HTTP/2.0',
  },
];

/** @type {import('node:net').Server} */
let server;
let origin = '';
before(async () => {
  server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('data', (request) => {
      const { bytes, end } = serverBehaviour(
        SEED,
        Number(/^GET \/(\d+)/.exec(request.toString('latin1'))?.[1]),
      );
      if (bytes.length > 0) socket.write(bytes);
      setTimeout(() => (end === 'reset' ? socket.resetAndDestroy() : socket.end()), END_DELAY_MS);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`;
});
after(() => server.close());

/** @param {number} number @returns {Promise<string | null>} status and body; null: it failed */
async function askWithOurs(number) {
  const connection = connectTo(origin);
  const { answer } = await exchange(connection, { path: `/${number}` }).ended;
  await connection.close();
  return answer === null ? null : `${answer.status} ${answer.body.toString('latin1')}`;
}

/** @param {number} number @returns {Promise<string | null>} */
async function askWithUndici(number) {
  const requester = createRequester({ origin, timeoutMs: 20_000 });
  try {
    const { status, body } = await requester.request({ path: `/${number}` });
    return `${status} ${body.toString('latin1')}`;
  } catch {
    return null;
  } finally {
    await requester.close();
  }
}

/** The first behaviours of the seed. @param {number} count */
export function compareBehaviours(count) {
  test(`${count} behaviours: the load and undici agree, or differ for a known reason`, (t) =>
    compare(t, count));
}

/** @param {import('node:test').TestContext} t @param {number} count */
async function compare(t, count) {
  const limit = pLimit(32);
  /** @type {Map<Difference, number>} */
  const seen = new Map();
  /** @type {string[]} */
  const unexplained = [];
  let responses = 0;
  await Promise.all(
    Array.from({ length: count }, (_, number) =>
      limit(async () => {
        const [ours, theirs] = [await askWithOurs(number), await askWithUndici(number)];
        if (ours !== null) responses++;
        if (ours === theirs) return;
        const behaviour = serverBehaviour(SEED, number);
        const reasons = ours === null ? ACCEPTED_BY_UNDICI : theirs === null ? ACCEPTED_BY_US : [];
        const known = reasons.find(({ applies }) => applies(behaviour));
        if (known === undefined) unexplained.push(describe(number, behaviour, ours, theirs));
        else seen.set(known, (seen.get(known) ?? 0) + 1);
      }),
    ),
  );
  for (const [{ reason }, count] of seen) t.diagnostic(`${count} times: ${reason}`);
  assert.deepEqual(unexplained, []);
  assert.deepEqual(
    [...ACCEPTED_BY_US, ...ACCEPTED_BY_UNDICI].filter((each) => !seen.has(each)),
    [],
    'a difference that does not occur any more',
  );
  assert.ok(responses > count / 4 && responses < count, `${responses} responses`);
}

/**
 * @param {number} number
 * @param {ServerBehaviour} behaviour
 * @param {string | null} ours
 * @param {string | null} theirs
 */
function describe(number, { bytes, end }, ours, theirs) {
  const shown = JSON.stringify(bytes.toString('latin1').slice(0, 300));
  return `#${number}, then ${end}: the load ${ours ?? 'fails'}, undici ${theirs ?? 'fails'}: ${shown}`;
}
