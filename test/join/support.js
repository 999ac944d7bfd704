/** Parts of a joined run in one process, on a target that notes each request; and a part that only speaks the protocol. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { TOOL_VERSION } from '../../src/common/version.js';
import { createPlan } from '../../src/index.js';
import { monotonicMs } from '../../src/join/clock.js';
import { createLeader } from '../../src/join/leader.js';
import { runAsMember } from '../../src/join/member.js';
import { createWire, keyOf } from '../../src/join/wire.js';

/** @import { AddressInfo, Socket } from 'node:net' */
/** @import { Plan } from '../../src/plan/plan.js' */
/** @import { Result } from '../../src/result/schema.js' */
/** @import { RunEvent } from '../../src/run.js' */
/** @import { WireMessage } from '../../src/join/wire.js' */

/** @typedef {{after: (fn: () => any) => void}} Context */
/** @typedef {Partial<Parameters<typeof createLeader>[0]>} LeaderChanges */
/** @typedef {Partial<Parameters<typeof runAsMember>[0]>} MemberChanges */

export const KEY = keyOf('test secret, long enough');
const HOST = '127.0.0.1';

/** As in a search. */
export const MOST = {
  model: /** @type {const} */ ('closed'),
  ratePerSecond: 1e6,
  concurrency: 10_000,
  durationMs: 1e9,
};

/** A target that responds at once. @param {Context} context */
export async function startCounting(context) {
  /** In order of arrival. @type {string[]} */
  const paths = [];
  /** By the monotonic clock. @type {number[]} */
  const arrivedMs = [];
  const server = createServer(({ url = '' }, response) => {
    if (url.startsWith('/r/')) {
      paths.push(url);
      arrivedMs.push(monotonicMs());
    }
    response.end(
      url === '/v1/sys/health' ? JSON.stringify({ initialized: true, sealed: false, version: '1.21.1' }) : '',
    );
  });
  await once(server.listen(0, HOST), 'listening');
  context.after(() => server.close(() => {}).closeAllConnections());
  const { port } = /** @type {AddressInfo} */ (server.address());
  return { url: `http://${HOST}:${port}`, paths, arrivedMs };
}

/** @param {string} url @param {Record<string, unknown>} [changes] @returns {Promise<Plan>} of all parts */
export const planFor = (url, changes = {}) =>
  createPlan('http', { url, path: '/r/{n}', token: 'none', coldStart: true, concurrency: 6, ...changes });

/** @param {Context} context @param {Plan} plan @param {number} of @param {LeaderChanges} [changes] */
export async function startLeader(context, plan, of, changes = {}) {
  /** @type {string[]} */
  const texts = [];
  const onEvent = (/** @type {RunEvent} */ event) => void ('text' in event && texts.push(event.text));
  const where = { host: HOST, port: 0 };
  const leader = await createLeader({
    where,
    key: KEY,
    of,
    plans: [plan],
    timeoutMs: 5000,
    onEvent,
    ...changes,
  });
  // A test that failed must not keep the process.
  context.after(() => leader.end());
  return { leader, texts, where: { host: HOST, port: Number(leader.address.split(':').at(-1)) } };
}

/** `outcome`: exit code or error. @param {Context} context @param {Plan} plan @param {{host: string, port: number}} where @param {[index: number, of: number]} part @param {MemberChanges} [changes] */
export function startMember(context, plan, where, [index, of], changes = {}) {
  /** @type {string[]} */
  const texts = [];
  /** @type {Result[]} */
  const results = [];
  const [stop, cutOff] = [new AbortController(), new AbortController()];
  const ended = runAsMember({
    ...{ where, key: KEY, part: { index, of }, timeoutMs: 5000, command: `part ${index}` },
    ...{ steps: [{ plan, token: null }], stop: stop.signal, cutOff: cutOff.signal },
    onEvent: (event) => void ('text' in event && texts.push(event.text)),
    onResult: (result) => results.push(result),
    ...changes,
  });
  /** @type {Promise<any>} */
  const outcome = ended.then(
    (code) => ({ code }),
    (error) => error,
  );
  context.after(() => {
    stop.abort();
    cutOff.abort();
  });
  return { ended, texts, results, stop, cutOff, outcome };
}

/** All parts, in this process. @param {Context} context @param {Plan} plan @param {number} of @param {{leader?: LeaderChanges, member?: MemberChanges[]}} [changes] */
export async function startAll(context, plan, of, { leader: ofLeader = {}, member: ofMembers = [] } = {}) {
  /** @type {Result[]} */
  const own = [];
  const onOwnResult = (/** @type {Result} */ result) => own.push(result);
  const { leader, texts, where } = await startLeader(context, plan, of, { onOwnResult, ...ofLeader });
  const members = Array.from({ length: of - 1 }, (_, i) =>
    startMember(context, plan, where, [i + 1, of], ofMembers[i]),
  );
  await leader.complete(new AbortController().signal);
  return { leader, texts, where, members, own };
}

/**
 * Speaks the protocol as far as the test needs. @param {Context} context @param {{host: string, port: number}} where @param {Record<string, unknown>} hello
 * @param {(message: WireMessage, send: (message: WireMessage) => void, socket: Socket) => void} onMessage @param {Buffer} [key]
 */
export function startFake(context, where, hello, onMessage, key = KEY) {
  const socket = connect(where);
  context.after(() => socket.destroy());
  socket.on('error', () => {});
  /** @type {WireMessage[]} */
  const messages = [];
  const wire = createWire(socket, {
    key,
    isLeader: false,
    onOpen: () => wire.send({ type: 'hello', version: TOOL_VERSION, ...hello }),
    onMessage(message) {
      messages.push(message);
      onMessage(message, wire.send, socket);
    },
    onClose: () => {},
  });
  return { socket, messages, closed: new Promise((resolve) => socket.on('close', resolve)) };
}

/**
 * A part 0 that admits each part, and then speaks the protocol as far as the test needs. @param {Context} context
 * @param {(message: WireMessage, send: (message: WireMessage) => void) => void} onMessage
 */
export async function startFakeLeader(context, onMessage) {
  /** @type {Socket[]} */
  const sockets = [];
  const replies = /** @type {Record<string, string>} */ ({ hello: 'welcome', plans: 'admitted' });
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    const wire = createWire(socket, {
      key: KEY,
      isLeader: true,
      onMessage(message) {
        if (message.type === 'ping') wire.send({ type: 'pong', at: message.at, leader: monotonicMs() });
        if (replies[message.type] !== undefined) wire.send({ type: replies[message.type] });
        onMessage(message, wire.send);
      },
      onClose: () => {},
    });
  });
  await once(server.listen(0, HOST), 'listening');
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = /** @type {AddressInfo} */ (server.address());
  return { where: { host: HOST, port }, sockets, close: () => server.close() };
}

/** What each part says it has found at the target of startCounting. @param {string} url */
export const foundAt = (url) => ({ url, product: null, version: null, proxy: null });

/** Passes bytes on, until told otherwise. @param {Context} context @param {{host: string, port: number}} where */
export async function startCable(context, where) {
  /** @type {Socket[]} */
  const sockets = [];
  const server = createTcpServer((near) => {
    const far = connect(where);
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    sockets.push(near, far);
  });
  await once(server.listen(0, HOST), 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  context.after(() => {
    cut();
    server.close();
  });
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    where: { host: HOST, port },
    cut,
    /** Delivers nothing for this long. @param {number} ms */
    stall(ms) {
      for (const socket of sockets) socket.pause();
      setTimeout(() => {
        for (const socket of sockets) socket.resume();
      }, ms).unref();
    },
  };
}
