/** Mounts that a run creates for itself, with a random name and a mark, and removes at its end. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError, targetError } from '../common/errors.js';
import { mayHaveTakenEffect } from './client.js';
/** @import { VaultClient } from './client.js' */

/** Prefix of their names. */
export const PREFIX = 'vault-pki-load';

/** Their description in Vault. Mounts without it are never removed. */
const OWN_MARK = 'made by vault-pki-load for a test; removed at its end';

/** After this time, a notice names the mount. */
const SLOW_MS = 2000;

/** Words and capabilities by kind. Auth methods need sudo: https://developer.hashicorp.com/vault/docs/concepts/policies#sudo */
const KINDS = Object.freeze({
  mounts: { noun: 'secrets engine', command: 'secrets', capabilities: 'create, update, read and delete' },
  auth: { noun: 'auth method', command: 'auth', capabilities: 'create, update, read, delete and sudo' },
});

/** @param {{path: string, description: string}} mount `path`: below `/v1/` @returns {boolean} created by a run */
export function isOwnMount({ path, description }) {
  return path.replace(/^auth\//, '').startsWith(`${PREFIX}-`) && description === OWN_MARK;
}

/**
 * `onEnd` registers a function to call when the run is over
 * @typedef {{client: VaultClient, notice: (text: string) => void, signal: AbortSignal,
 *   onEnd: (end: () => Promise<void>) => void}} MountContext
 */

/**
 * Creates a mount that is removed at the end, however the run ends.
 * @param {MountContext} context @param {'mounts' | 'auth'} kind @param {string} type e.g. `kv`
 * @param {Record<string, unknown>} [settings] in addition to its type
 * @returns {Promise<string>} its path; of an auth method, below `auth/`
 */
export async function createOwnMount(context, kind, type, settings = {}) {
  const { client, onEnd } = context;
  // 64 random bits. If the name is taken, Vault refuses it, and nothing is removed.
  const path = `${PREFIX}-${type}-${randomBytes(8).toString('hex')}`;
  let mayExist = true;
  onEnd(async () => {
    if (mayExist) await removeOwnMount(context, kind, path);
  });
  try {
    await client.write(`sys/${kind}/${path}`, { ...settings, type, description: OWN_MARK });
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    mayExist = mayHaveTakenEffect(error);
    const { noun, capabilities } = KINDS[kind];
    const message = `The run's own ${noun} (${type}) cannot be mounted: ${error.message}`;
    const grant = `The token needs ${capabilities} on sys/${kind}/${PREFIX}-*.`;
    const remedy = error.code === 'vault_permission_denied' ? grant : error.remedy;
    throw targetError('cannot_create_mount', message, remedy, error);
  }
  return path;
}

/** @param {MountContext} context @param {'mounts' | 'auth'} kind @param {string} path */
async function removeOwnMount({ client, notice, signal }, kind, path) {
  const mount = `the ${KINDS[kind].noun} ${path}`;
  // At once after a Ctrl-C, as the second ends the wait and may leave the mount.
  const slow = setTimeout(notice, signal.aborted ? 0 : SLOW_MS, `Removing ${mount} with all its content.`);
  const remedy = `Remove it at ${client.origin} with vault ${KINDS[kind].command} disable ${path}, or with vault-pki-load teardown, which also removes a setup.`;
  const remove = () => client.remove(`sys/${kind}/${path}`);
  await removeOrReport(remove, 'mount_left_behind', mount, remedy).finally(() => clearTimeout(slow));
}

/** Codes of refusals that may end soon: the run itself may have used up a quota, or a new leader takes over. */
const TEMPORARY = ['vault_rate_limited', 'vault_unavailable', 'vault_standby'];
const REMOVE_AGAIN_MS = 500;

/**
 * @param {() => Promise<unknown>} remove rejects at last when its own time is up @param {string} code @param {string} item of the error
 * @param {string} remedy @param {(ms: number) => Promise<unknown>} [pause] @throws {PkiLoadError} the item may be left
 */
export async function removeOrReport(remove, code, item, remedy, pause = sleep) {
  /** The last temporary one, which says more than that the time is up. @type {unknown} */
  let refused = null;
  /** @returns {Promise<unknown>} */
  const attempt = () =>
    remove().catch(async (error) => {
      if (!TEMPORARY.includes(error.code)) throw error.code === 'interrupted' ? (refused ?? error) : error;
      refused = error;
      await pause(REMOVE_AGAIN_MS);
      return attempt();
    });
  await attempt().catch((error) => {
    const why = error instanceof PkiLoadError ? error.message : String(error);
    throw targetError(code, `Left behind: ${item}, which could not be removed (${why}).`, remedy, error);
  });
}

const [READY_MS, READY_PAUSE_MS] = [5000, 100];

/** Codes of refusals that end once Vault has set up the mount, or a standby has replicated it. */
const EARLY = ['vault_no_route', 'vault_not_found', 'vault_not_replicated', 'vault_unsupported'];

/**
 * Repeats a call until it succeeds, or fails after 5 s: Vault refuses requests to a mount just created, such as a version 2 key-value
 * store ("Upgrading from non-versioned to versioned data").
 * @template T @param {() => Promise<T>} call @param {AbortSignal} [signal] ends the repetition
 * @param {(ms: number) => Promise<unknown>} [pause] @param {() => number} [now] ms, monotonic @returns {Promise<T>}
 */
export async function untilReady(call, signal, pause = sleep, now = () => performance.now()) {
  for (const endMs = now() + READY_MS; ; ) {
    try {
      return await call();
    } catch (error) {
      if (now() >= endMs || signal?.aborted || !(error instanceof PkiLoadError)) throw error;
      const isUpgrading = error.code === 'vault_bad_request' && /upgrading/i.test(error.message);
      if (!isUpgrading && !EARLY.includes(error.code)) throw error;
      await pause(READY_PAUSE_MS);
    }
  }
}
