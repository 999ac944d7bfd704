/**
 * Secrets engines and auth methods that can be mounted on the embedded server (`sys/mounts`, `sys/auth`), beside its PKI mount.
 * A new one is a file and a line here.
 */
import { VaultError } from '../replies.js';
import { createAppRole } from './approle.js';
import { createKv } from './kv.js';
import { createTransit } from './transit.js';

/**
 * @typedef {object} Engine
 * @property {import('../routes.js').Route[]} routes below its mount, for whoever has a token
 * @property {import('../routes.js').Route[]} openRoutes that need none
 */
/** @typedef {(options: Record<string, unknown>, world: import('../routes.js').World) => Engine} CreateEngine */

/** @type {Readonly<Record<'mounts' | 'auth', Readonly<Record<string, CreateEngine>>>>} by type */
export const ENGINES = Object.freeze({
  mounts: Object.freeze({ kv: createKv, transit: createTransit }),
  auth: Object.freeze({ approle: createAppRole }),
});

/**
 * @param {'mounts' | 'auth'} kind
 * @param {string} type
 * @returns {CreateEngine}
 */
export function engineOf(kind, type) {
  if (Object.hasOwn(ENGINES[kind], type)) return ENGINES[kind][type];
  throw new VaultError(400, `plugin not found in the catalog: ${type}`);
}
