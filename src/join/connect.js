/** A part's way to part 0: tries until it is admitted or refused. */
import { createConnection } from 'node:net';
import { usageError } from '../common/errors.js';
import { interruptedError, pauseFor, rejectOnStop } from '../common/stop.js';
import { formatDuration } from '../common/units.js';
import { TOOL_VERSION } from '../common/version.js';
import { createWire, GREET_WITHIN_MS } from './wire.js';

/** @import { MemberOptions } from './member.js' */
/** @import { Wire, WireMessage } from './wire.js' */

/** @typedef {{onAdmitted: (wire: Wire) => void, onMessage: (message: WireMessage) => void, onClose: (why: string) => void}} Calls */
/** `retry`: why it may succeed later @typedef {{admitted: true} | {refused: string} | {retry: string}} Answer */

const RETRY_MS = 500;

/** `lost`: why its first connection broke, which part 0 may not have noticed yet; null: it is the first @typedef {MemberOptions & {deadline: number, lost: string | null}} Options */

/** @param {Options} options @param {Calls} calls @throws {PkiLoadError} if it was refused, interrupted, or part 0 is missing */
export async function connect(options, calls) {
  const { where, timeoutMs, deadline, lost, stop, onEvent } = options;
  const name = `${where.host.includes(':') ? `[${where.host}]` : where.host}:${where.port}`;
  let why = lost;
  for (let tries = 0; ; tries++) {
    // Also after an admission: part 0 may admit this part, and fail, again and again.
    if (why !== null) {
      if (performance.now() > deadline) {
        const message = `Part 0 at ${name} did not ${lost === null ? 'accept' : 'keep'} this part within ${formatDuration(timeoutMs)} (${why}).`;
        const remedy =
          'Start part 0, or see its log, and give all parts the same --join and the same secret.';
        throw usageError('leader_missing', message, remedy);
      }
      await pauseFor(RETRY_MS * (0.5 + Math.random()), stop);
    }
    if (stop.aborted) throw interruptedError();
    const { answered, close } = tryToConnect(options, calls);
    const answer = await rejectOnStop(answered, stop).catch((error) => {
      close('interrupted');
      throw error;
    });
    if ('refused' in answer) {
      const remedy = 'Start all parts with the same version, options and number of parts, each once.';
      throw usageError('part_refused', `Part 0 at ${name} refused this part: ${answer.refused}.`, remedy);
    }
    if ('admitted' in answer) return onEvent({ type: 'notice', text: `Joined part 0 at ${name}.` });
    why = answer.retry;
    if (tries === 0) onEvent({ type: 'notice', text: `Waiting for part 0 at ${name} (${why}).` });
  }
}

/** @param {Options} options @param {Calls} calls @returns {{answered: Promise<Answer>, close: Wire['close']}} */
function tryToConnect({ where, key, part, seed = null, steps, series = {}, silenceMs, lost }, calls) {
  const socket = createConnection({ ...where, autoSelectFamilyAttemptTimeout: GREET_WITHIN_MS / 4 });
  socket.setNoDelay(true);
  let [isWelcome, isAdmitted] = [false, false];
  /** Why the socket fails, in more detail than the wire knows. */
  let reason = /** @type {string | null} */ (`no connection within ${GREET_WITHIN_MS / 1000} s`);
  socket.on('connect', () => {
    reason = null;
  });
  socket.on('error', (error) => {
    reason = /** @type {NodeJS.ErrnoException} */ (error).code ?? error.message;
  });
  let answer = (/** @type {Answer} */ _answer) => {};
  /** @type {Promise<Answer>} */
  const answered = new Promise((resolve) => {
    answer = resolve;
  });
  const wire = createWire(socket, {
    key,
    isLeader: false,
    silenceMs,
    onOpen: () => wire.send({ type: 'hello', version: TOOL_VERSION, ...part, seed }),
    onMessage(message) {
      if (isAdmitted) calls.onMessage(message);
      else if (message.type === 'welcome') {
        if (isWelcome) throw new RangeError('a second welcome');
        isWelcome = true;
        wire.send({ type: 'plans', plans: steps.map(({ plan }) => plan), series });
      } else if (message.type === 'admitted') {
        isAdmitted = true;
        calls.onAdmitted(wire);
        answer({ admitted: true });
      } else {
        wire.end();
        const why = String(message.why).slice(0, 1000);
        answer(lost !== null && message.isHere === true ? { retry: why } : { refused: why });
      }
    },
    onClose(why) {
      if (isAdmitted) calls.onClose(why);
      else answer({ retry: reason ?? why });
    },
  });
  return { answered, close: wire.close };
}
