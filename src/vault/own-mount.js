/** Mounts that a run makes for itself, under a random name and with a mark, and removes at its end. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError, targetError } from '../common/errors.js';
/** @import { VaultClient } from './client.js' */

/** Their names begin so; the rest is random. */
export const PREFIX = 'vault-pki-load';

/** Their description in Vault. A mount without it is never removed. */
const MARK = 'made by vault-pki-load for a test, and to be taken away by it';

const READY_TRIES = 50;
const READY_PAUSE_MS = 100;

/** Vault revokes every token and lease of a mount before it is gone: of a hundred thousand logins, that is minutes. */
const REMOVE_WITHIN_MS = 300_000;

/** After this time, a notice names the call that the program waits for. */
const SLOW_MS = 2000;

/** @typedef {'mounts' | 'auth'} Kind */
/**
 * @typedef {object} MountContext
 * @property {VaultClient} client
 * @property {(text: string) => void} notice
 * @property {AbortSignal} signal
 */

/**
 * A mount that is removed at the end, whatever comes between.
 *
 * @param {MountContext & {onEnd: (end: () => Promise<void>) => void}} context `onEnd` registers a function to call when the run is over
 * @param {Kind} kind
 * @param {string} type e.g. `kv`
 * @param {Record<string, unknown>} [settings] beside its type
 * @returns {Promise<string>} its path, below `auth/` where it is an auth method
 * @throws {PkiLoadError} where the token may not do this
 */
export async function makeOwnMount(context, kind, type, settings = {}) {
  const { client, notice, onEnd, signal } = context;
  // 64 random bits: Vault would refuse a name that is taken, and then nothing would be removed either.
  const path = `${PREFIX}-${type}-${randomBytes(8).toString('hex')}`;
  let isAsked = false;
  onEnd(async () => {
    if (isAsked) await removeOwnMount({ client, notice, signal }, kind, path);
  });
  isAsked = true;
  try {
    await client.write(`sys/${kind}/${path}`, { ...settings, type, description: MARK });
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    if (REFUSED.has(error.code)) isAsked = false;
    throw targetError(
      'cannot_make_mount',
      `${kind === 'auth' ? 'An auth method' : 'A secrets engine'} of the run's own (${type}) cannot be mounted: ${error.message}`,
      `The token needs ${RIGHTS[kind]} on sys/${kind}/${PREFIX}-*.`,
      error,
    );
  }
  return path;
}

/**
 * @param {MountContext} context
 * @param {Kind} kind
 * @param {string} path as makeOwnMount drew it
 * @throws {PkiLoadError} naming what is left
 */
async function removeOwnMount({ client, notice, signal }, kind, path) {
  const what = `${kind === 'auth' ? 'the auth method' : 'the secrets engine'} ${path}`;
  const say = () => notice(`Removing ${what} with all that is in it.`);
  // A second Ctrl-C ends the program: by then a notice has named what would be left.
  const slow = setTimeout(say, signal.aborted ? 0 : SLOW_MS);
  try {
    await client.remove(`sys/${kind}/${path}`, REMOVE_WITHIN_MS);
  } catch (error) {
    const why = error instanceof PkiLoadError ? error.message : String(error);
    const disable = `vault ${kind === 'auth' ? 'auth' : 'secrets'} disable ${path}`;
    throw targetError(
      'mount_left',
      `Left behind: ${what}, which could not be removed (${why}).`,
      `Remove it with ${disable}.`,
      error,
    );
  } finally {
    clearTimeout(slow);
  }
}

/** Waits until a mount of the run's own takes requests. @param {() => Promise<unknown>} ask @param {AbortSignal} [signal] */
export async function untilReady(ask, signal) {
  await retryEarly(ask, ({ code }) => EARLY.has(code) && !signal?.aborted);
}

/**
 * Vault refuses requests to a mount for a moment after it was made: a version 2 key-value store, say, while it is set up.
 *
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(error: PkiLoadError) => boolean} isEarly
 * @param {(ms: number) => Promise<unknown>} [pause]
 * @returns {Promise<T>}
 */
async function retryEarly(ask, isEarly, pause = sleep) {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === READY_TRIES || !(error instanceof PkiLoadError) || !isEarly(error)) throw error;
      await pause(READY_PAUSE_MS);
    }
  }
}

/** Mounting and removing auth methods needs sudo: https://developer.hashicorp.com/vault/docs/concepts/policies#sudo */
const RIGHTS = Object.freeze({
  mounts: 'create, update, read and delete',
  auth: 'create, update, read, delete and sudo',
});

/** Answers after which nothing was made; after others, or none, something may be there. */
const REFUSED = new Set([
  'token_invalid',
  'vault_bad_request',
  'vault_no_route',
  'vault_not_found',
  'vault_permission_denied',
  'vault_rate_limited',
  'vault_sealed',
  'vault_standby',
  'vault_unauthorized',
]);

/** Refusals while a mount is not ready. */
const EARLY = new Set([
  'vault_bad_request',
  'vault_not_found',
  'vault_no_route',
  'vault_internal_error',
  'vault_unavailable',
  'vault_unsupported',
]);

/** `setup` waits only for refusals that a new mount explains. @param {PkiLoadError} error */
function isNewMount({ code, message }) {
  // "Upgrading from non-versioned to versioned data": a key-value store of version 2; no route: a standby that has not heard of it.
  const isUpgrading = code === 'vault_bad_request' && /upgrading/i.test(message);
  return code === 'vault_no_route' || code === 'vault_not_replicated' || isUpgrading;
}

/**
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(ms: number) => Promise<unknown>} [pause]
 * @returns {Promise<T>}
 */
export function waitUntilReady(ask, pause = sleep) {
  return retryEarly(ask, isNewMount, pause);
}
