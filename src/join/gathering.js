/** Part 0's meeting point: admits each other part once, keeps strangers out, and notices who has gone. */
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { usageError } from '../common/errors.js';
import { isLoopback, listen } from '../common/listen.js';
import { rejectOnStop } from '../common/stop.js';
import { formatDuration } from '../common/units.js';
import { TOOL_VERSION } from '../common/version.js';
import { partName } from '../plan/shard-part.js';
import { describeDifferences } from '../result/parts/parts.js';
import { monotonicMs } from './clock.js';
import { differencesOf } from './joined-plan.js';
import { createWire, NOT_PROVEN } from './wire.js';

/** @import { Socket } from 'node:net' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { RunEvent } from '../run.js' */
/** @import { Wire, WireMessage } from './wire.js' */

/** @typedef {Awaited<ReturnType<typeof createGathering>>} Gathering */
/** @typedef {Readonly<Record<string, string | number | boolean | null>>} Series */
/** `lost`: why it is gone @typedef {{index: number, name: string, wire: Wire, lost: string | null}} Member */
/**
 * `seed`: as given; `plans`: one for each step; `series`: settings of several runs, by flag; `timeoutMs`: for all parts to come
 * @typedef {{where: {host: string, port: number}, key: Buffer, of: number, seed?: number | null, plans: readonly Plan[], series?: Series, timeoutMs: number,
 *   silenceMs?: number, onEvent: (event: RunEvent) => void}} GatheringOptions
 */

/**
 * Connections that were not admitted (yet). The oldest that has proved nothing gives way to a new one, and if it was a part, that tries
 * again: with so many, a flood of thousands a second still leaves a part on a slow network the time to greet.
 */
const MAX_STRANGERS = 512;
/** Once all parts are there, one that was started again is only refused; each connection takes a file descriptor from the load. */
const MAX_STRANGERS_LATER = 16;

/** Missing parts that a message names. */
const MAX_NAMED = 10;

/** That are shown: refused parts may come again and again. */
const MAX_REFUSALS = 100;

/** Of a message of a part that is not admitted: its plans may be so much longer than those of part 0. */
const [PLANS_BYTES, PLANS_TIMES] = [2 ** 20, 4];

/**
 * @param {GatheringOptions} options
 * @param {{onMessage: (member: Member, message: WireMessage, bytes: number) => void, onLost: (member: Member) => void, maxBytes: () => number}} calls
 *   `maxBytes`: of the next message of a part
 * @throws {PkiLoadError} if it cannot listen
 */
export async function createGathering(
  { where, key, of, seed = null, plans, series = {}, timeoutMs, silenceMs, onEvent },
  calls,
) {
  /** @type {Map<number, Member>} */
  const members = new Map();
  /** Not admitted yet, oldest first. @type {Set<Wire>} */
  const strangers = new Set();
  /** Random numbers of the proofs so far: each proof counts once, and a recorded one does not. @type {Set<string>} */
  const proved = new Set();
  /** Addresses that have used another secret, or a recorded proof. @type {Set<string>} */
  const unproven = new Set();
  /** Why a part was refused, by its number; null: it has none. @type {Map<number | null, string>} */
  const refusals = new Map();
  /** Refusals that were shown. */
  let shown = 0;
  const plansBytes = PLANS_BYTES + PLANS_TIMES * JSON.stringify(plans).length;
  /** Since then no part may leave or come. */
  let hasBegun = false;
  let whenComplete = () => {};
  const warn = (/** @type {string} */ text) => onEvent({ type: 'warning', text });
  const missing = () =>
    Array.from({ length: of - 1 }, (_, i) => i + 1).filter((index) => !members.has(index));

  /** @param {Socket} socket */
  function onConnection(socket) {
    socket.setNoDelay(true);
    const { remoteAddress = 'an unknown address' } = socket;
    let index = /** @type {number | null} */ (null);
    let member = /** @type {Member | null} */ (null);
    /** Skipped while the part does not read: a late reply is useless, and many would fill the memory. @param {unknown} at */
    const answer = (at) => {
      if (!Number.isFinite(at)) throw new TypeError('a ping without a time');
      if (!socket.writableNeedDrain) wire.send({ type: 'pong', at, leader: monotonicMs() });
    };
    const wire = createWire(socket, {
      key,
      isLeader: true,
      silenceMs,
      proved,
      maxBytes: () => (member === null ? plansBytes : calls.maxBytes()),
      onMessage(message, bytes) {
        if (message.type === 'ping') answer(message.at);
        else if (member !== null) calls.onMessage(member, message, bytes);
        else if (index === null) index = welcome(wire, message);
        else member = admit(wire, index, message);
      },
      onClose(why) {
        strangers.delete(wire);
        if (member !== null) lose(member, why);
        else if (why === NOT_PROVEN && unproven.size < MAX_NAMED && !unproven.has(remoteAddress)) {
          unproven.add(remoteAddress);
          warn(`A part at ${remoteAddress} did not prove that it knows the secret.`);
        }
      },
    });
    strangers.add(wire);
    if (strangers.size <= (hasBegun ? MAX_STRANGERS_LATER : MAX_STRANGERS)) return;
    const [oldest, ...others] = strangers;
    (oldest.hasProved() ? (others.find((one) => !one.hasProved()) ?? oldest) : oldest).close('others came');
  }

  /** A part that comes again for the same reason is not reported again. @param {Wire} wire @param {unknown} index @param {string} why */
  function refuse(wire, index, why) {
    strangers.delete(wire);
    const part = isPart(index) ? Number(index) : null;
    wire.send({ type: 'refused', why, isHere: members.get(Number(part))?.lost === null && !hasBegun });
    wire.end();
    if (refusals.get(part) !== why && shown++ < MAX_REFUSALS) warn(`A part was refused: ${why}.`);
    refusals.set(part, why);
    return null;
  }

  const isPart = (/** @type {unknown} */ index) =>
    Number.isInteger(index) && Number(index) >= 0 && Number(index) < of;

  /** @param {unknown} index @returns {string | null} why this part cannot come */
  function whyNot(index) {
    if (!isPart(index)) return 'there is no such part';
    const name = partName({ index: Number(index), of });
    if (index === 0) return `${name} is here already: it is the one that listens`;
    if (members.get(Number(index))?.lost === null) return `${name} is here already`;
    return hasBegun ? `the run has begun, and ${name} was lost: no part is restarted into a run` : null;
  }

  /** @param {Wire} wire @param {WireMessage} hello @returns {number | null} null: refused */
  function welcome(wire, { version, index, of: theirs, seed: given = null }) {
    const other = String(version).slice(0, 40);
    if (version !== TOOL_VERSION)
      return refuse(wire, index, `it is version ${other}, but part 0 is ${TOOL_VERSION}`);
    if (theirs !== of)
      return refuse(wire, index, `it is one of ${Number(theirs)} parts, but part 0 expects ${of}`);
    const seedText = (/** @type {unknown} */ one) => (one === null ? 'none' : Number(one));
    if (given !== seed) {
      const both = `(${seedText(given)} and ${seedText(seed)})`;
      return refuse(wire, index, `its --seed and that of part 0 differ ${both}`);
    }
    const why = whyNot(index);
    if (why !== null) return refuse(wire, index, why);
    wire.send({ type: 'welcome' });
    return index;
  }

  /** @param {Wire} wire @param {number} index @param {WireMessage} message @returns {Member | null} null: refused */
  function admit(wire, index, { plans: given, series: asked }) {
    const theirs = Array.isArray(given) ? given : [];
    const name = partName({ index, of });
    const differences = describeDifferences(series, Object(asked), []) ?? differencesOf(plans, theirs);
    if (differences !== null)
      return refuse(wire, index, `the settings of part 0 and of ${name} differ in ${differences}`);
    const why = whyNot(index);
    if (why !== null) return refuse(wire, index, why);
    const member = { index, name, wire, lost: null };
    members.set(index, member);
    strangers.delete(wire);
    wire.send({ type: 'admitted' });
    onEvent({ type: 'notice', text: `${capital(name)} is here.` });
    if (missing().length === 0) whenComplete();
    return member;
  }

  /** @param {Member} member @param {string} why */
  function lose(member, why) {
    member.lost = why;
    if (hasBegun) return calls.onLost(member);
    members.delete(member.index);
    warn(`${capital(member.name)} was lost: ${why}.`);
  }

  /** @param {WireMessage} message for all parts that are here */
  function send(message) {
    for (const { wire, lost } of members.values()) if (lost === null) wire.send(message);
  }

  const server = createServer(onConnection);
  const { host, note } = hostFor(where.host);
  const address = await listen(server, { host, port: where.port }, '--join', 'join');
  // Failing to accept a connection (no file descriptor left) must not end the run.
  server.on('error', () => {});
  onEvent({
    type: 'notice',
    text: `Part 0 listens on ${address}${note} for ${of - 1} other part${of === 2 ? '' : 's'}.`,
  });

  return {
    /** With the actual port. */
    address,
    /** All of them, when complete. */
    members: () => [...members.values()],
    /** Resolves when all parts are here. @param {AbortSignal} stop @throws {PkiLoadError} naming the parts that did not join in time */
    async complete(stop) {
      let timer = /** @type {NodeJS.Timeout | undefined} */ (undefined);
      const inTime = new Promise((resolve, reject) => {
        timer = setTimeout(() => reject(notComplete(missing(), of, timeoutMs, refusals)), timeoutMs);
        whenComplete = () => {
          hasBegun = true;
          for (const wire of strangers) wire.close('the run has begun');
          resolve(null);
        };
        if (missing().length === 0) whenComplete();
      });
      await rejectOnStop(inTime, stop).finally(() => clearTimeout(timer));
      send({ type: 'complete' });
    },
    send,
    /** Sends it to all parts, and closes all connections. @param {WireMessage} message */
    end(message) {
      send(message);
      for (const { wire } of members.values()) wire.end();
      for (const wire of strangers) {
        // Only one that knows the secret receives it.
        wire.send({ type: 'refused', why: 'the run is over' });
        wire.end();
      }
      server.close();
    },
  };
}

/** @param {string} text */
export const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {number[]} missing @param {number} of @param {number} timeoutMs @param {Map<number | null, string>} refusals */
function notComplete(missing, of, timeoutMs, refusals) {
  const named = missing.slice(0, MAX_NAMED).join(', ') + (missing.length > MAX_NAMED ? ', ...' : '');
  const parts =
    missing.length === 1 ? `Part ${named} of ${of}` : `${missing.length} of ${of} parts (${named})`;
  const refused = missing.filter((index) => refusals.has(index)).slice(0, MAX_NAMED);
  const why = refused.map((index) => ` Part ${index} came and was refused: ${refusals.get(index)}.`).join('');
  const message = `${parts} did not join within ${formatDuration(timeoutMs)}.${why}`;
  const remedy = 'Start every part with the same --join, or wait longer with --join-timeout.';
  return usageError('part_missing', message, remedy);
}

/** A name may lead to a gateway or, by Debian's /etc/hosts and on this machine alone, to loopback. @param {string} host */
export function hostFor(host) {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  if (isLoopback(host) || own.some(({ address }) => address === host)) return { host, note: '' };
  const all = own.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0';
  return { host: all, note: ' (all addresses)' };
}
