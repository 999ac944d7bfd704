/** What the other parts have reported on the task in progress, and waits for it. */
import { PkiLoadError, usageError } from '../common/errors.js';
import { rejectOnStop } from '../common/stop.js';
import { capital } from './gathering.js';

/** @import { MessagePort } from 'node:worker_threads' */
/** @import { Result } from '../result/schema.js' */
/** @import { Member } from './gathering.js' */
/** @import { Received } from './joint-view.js' */
/** @import { WireMessage } from './wire.js' */

/**
 * What a part has reported on the task in progress
 * @typedef {{phases: Map<string, WireMessage>, failed: PkiLoadError | null, isStopped: boolean, isInterrupted: boolean, events: number, interval: Received | null,
 *   result: Result | null, ports: MessagePort[]}} State
 */

/** @param {() => Member[]} members */
export function createRoll(members) {
  /** @type {Map<Member, State>} */
  const states = new Map();
  /** Checks of `until`. @type {Set<() => void>} */
  const waiting = new Set();
  const each = () => members().map((member) => ({ member, state: stateOf(member) }));

  /** @param {Member} member @returns {State} */
  function stateOf(member) {
    const state = states.get(member) ?? {
      phases: new Map(),
      failed: null,
      isStopped: false,
      isInterrupted: false,
      events: 0,
      interval: null,
      result: null,
      ports: [],
    };
    states.set(member, state);
    return state;
  }

  /** Resolves when the check passes; rejects if it throws. @param {() => boolean} check @param {AbortSignal} stop */
  function until(check, stop) {
    let test = () => {};
    const passed = new Promise((resolve, reject) => {
      test = () => {
        try {
          if (check()) resolve(null);
        } catch (error) {
          reject(error);
        }
      };
    });
    waiting.add(test);
    test();
    return rejectOnStop(passed, stop).finally(() => waiting.delete(test));
  }

  /** Throws if a part cannot go on. */
  function assertAllWell() {
    for (const { member, state } of each()) {
      if (member.lost !== null) throw lostError(member);
      if (state.failed !== null) throw failedError(member, state.failed);
    }
  }

  /** @param {string} phase @param {AbortSignal} stop */
  const reached = (phase, stop) =>
    until(() => {
      assertAllWell();
      return each().every(({ state }) => state.phases.has(phase));
    }, stop);

  return {
    each,
    stateOf,
    until,
    reached,
    assertAllWell,
    /** For the next task. */
    clear: () => states.clear(),
    /** A part has reported something, or is lost. */
    changed() {
      for (const check of [...waiting]) check();
    },
  };
}

/** @param {{member: Member, state: State}} part */
export const hasEnded = ({ member, state }) =>
  state.result !== null || state.failed !== null || state.isStopped || member.lost !== null;

/** @param {Member} member @param {PkiLoadError} error its own */
function failedError({ name }, { code, message, remedy, exitCode }) {
  return new PkiLoadError(code, `${capital(name)}: ${message}`, { remedy, exitCode });
}

/** @param {Member} member */
function lostError({ name, lost }) {
  const remedy = 'See its log, and start all parts again.';
  return usageError('part_lost', `${capital(name)} was lost: ${lost}.`, remedy);
}
