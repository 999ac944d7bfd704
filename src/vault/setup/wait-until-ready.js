/** Vault refuses requests to a mount for a moment after it was made. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError } from '../../common/errors.js';

const TRIES = 50;
const PAUSE_MS = 100;

/**
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(ms: number) => Promise<unknown>} [pause]
 * @returns {Promise<T>}
 */
export async function waitUntilReady(ask, pause = sleep) {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === TRIES || !isEarly(error)) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/** @param {unknown} error */
function isEarly(error) {
  if (!(error instanceof PkiLoadError)) return false;
  // "Upgrading from non-versioned to versioned data": a key-value store of version 2; no route: a standby that has not heard of it.
  return (
    error.code === 'vault_no_route' ||
    error.code === 'vault_not_replicated' ||
    (error.code === 'vault_bad_request' && /upgrading/i.test(error.message))
  );
}
