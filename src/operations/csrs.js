/** `issue --sign`: CSRs made before the run, each with a key of its own that is thrown away at once. */
import { usageError } from '../common/errors.js';
import { namesOf } from './names.js';

/** What `--key-type` takes. */
export const KEY_TYPES = Object.freeze(['rsa-2048', 'ec-256', 'ed25519']);

/** CSRs made where `--pool` does not say. */
export const DEFAULT_POOL = 100;

/** @typedef {{pem: string, spki: Uint8Array, commonName: string, altNames: string[]}} PooledCsr */

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {Record<string, any> | null} role as Vault returns it
 * @returns {Promise<PooledCsr[]>}
 */
export async function makeCsrs({ plan, progress, signal }, role) {
  const { createCsrPool } = await import('../pki/csr.js');
  const { keyType, pool } = plan.options;
  const size = pool ?? DEFAULT_POOL;
  const names = Array.from({ length: size }, (_, i) => namesOf(plan.options, plan.load.seed, i));
  const csrs = await createCsrPool({
    keyType: keyType ?? keyTypeOf(role),
    size,
    makeName: (i) => names[i],
    onProgress: (done, total) => progress('Making CSRs', done, total),
    signal,
  });
  return csrs.map(({ pem, spki }, i) => {
    const { commonName, altNames } = names[i];
    return { pem, spki, commonName, altNames };
  });
}

/**
 * @param {Record<string, any> | null} role
 * @returns {'rsa-2048' | 'ec-256' | 'ed25519'} a key that the role takes; P-256 where it takes any or is not known
 */
function keyTypeOf(role) {
  const { key_type: type = 'any', key_bits: bits = 0 } = role ?? {};
  if (type === 'ed25519') return 'ed25519';
  if (type === 'rsa' && (bits === 2048 || bits === 0)) return 'rsa-2048';
  if (type === 'any' || (type === 'ec' && (bits === 256 || bits === 0))) return 'ec-256';
  throw usageError(
    'unsupported_key_type',
    `The role takes only ${type} keys of ${bits} bits, and --sign makes ${KEY_TYPES.join(', ')}.`,
    'Name another role with --role.',
  );
}

/**
 * @param {string | null} keyType
 * @returns {{keyType: 'rsa' | 'ec' | 'ed25519' | null, keyBits: number | null}} as Vault names them
 */
export function describeKeyType(keyType) {
  if (keyType === null) return { keyType: null, keyBits: null };
  const [kind, bits] = keyType.split('-');
  return {
    keyType: /** @type {'rsa' | 'ec' | 'ed25519'} */ (kind),
    keyBits: bits === undefined ? null : Number(bits),
  };
}
