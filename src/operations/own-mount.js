/** Mounts that a run makes for itself: under a name that is nobody else's, and gone when it is over. */
import { randomBytes } from 'node:crypto';
import { PkiLoadError, targetError } from '../errors.js';

/** What they are called; the rest is drawn. */
const PREFIX = 'vault-pki-load';

/** A mount is there a moment before it takes requests. */
const READY_TRIES = 50;
const READY_PAUSE_MS = 100;

/**
 * @param {import('../vault/client.js').VaultClient} client
 * @param {'mounts' | 'auth'} kind
 * @param {string} type e.g. `kv`
 * @param {Record<string, unknown>} [settings] beside its type
 * @returns {Promise<string>} its path, below `auth/` where it is an auth method
 * @throws {PkiLoadError} where the token may not do this
 */
export async function makeOwnMount(client, kind, type, settings = {}) {
  const path = `${PREFIX}-${type}-${randomBytes(4).toString('hex')}`;
  const what = kind === 'auth' ? 'an auth method' : 'a secrets engine';
  try {
    await client.write(`sys/${kind}/${path}`, {
      type,
      description: 'made by vault-pki-load for a test, and to be taken away by it',
      ...settings,
    });
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    throw targetError(
      'cannot_make_mount',
      `${what[0].toUpperCase()}${what.slice(1)} of its own (${type}) cannot be mounted: ${error.message}`,
      `The token needs create and update on sys/${kind}/${PREFIX}-*; or name a mount that is there.`,
      error,
    );
  }
  return path;
}

/**
 * @param {import('../vault/client.js').VaultClient} client
 * @param {'mounts' | 'auth'} kind
 * @param {string} path as makeOwnMount gave it
 */
export async function removeOwnMount(client, kind, path) {
  if (!path.startsWith(`${PREFIX}-`)) throw new Error(`${path} is not a mount of our own`);
  await client.remove(`sys/${kind}/${path}`);
}

/**
 * Vault refuses requests to a mount for a moment after it was made: a version 2 key-value store, say, while it is set up.
 *
 * @param {() => Promise<unknown>} ask
 * @returns {Promise<void>}
 */
export async function untilReady(ask) {
  for (let tries = 1; ; tries++) {
    try {
      await ask();
      return;
    } catch (error) {
      const isEarly =
        error instanceof PkiLoadError && error.code !== 'vault_permission_denied' && tries < READY_TRIES;
      if (!isEarly) throw error;
      await new Promise((resolve) => setTimeout(resolve, READY_PAUSE_MS));
    }
  }
}
