/** `issue` before time zero: checks that the run can work, notes what it will leave behind, and makes the CSRs. */
import { usageError } from '../common/errors.js';
import { expectedRequests, longestRunMs } from '../plan/expected.js';
import { describeFootprint } from '../vault/check-role.js';
import { createSerialMemory, DEFAULT_POOL, KEY_TYPES, openKeepFile } from './issue-parts.js';
import { checkIssuance, fixtureOf } from './prepare.js';
import { apiPath, namesOf } from './request-parts.js';
/** @import { Plan } from '../plan/plan.js' */
/** @import { PrepareContext } from './index.js' */
/** @import { PooledCsr } from './issue-parts.js' */
/** @import { IssueFixture } from './issue.js' */

/** @param {PrepareContext} context @returns {Promise<IssueFixture>} */
export async function prepare(context) {
  const { plan, token, notice, owns } = context;
  const { mount } = plan.target;
  const { role, sign, keep } = plan.options;
  if (keep !== null) openKeepFile(keep).close();
  const { health, role: roleFields } = await checkIssuance(context, {
    ...question(plan),
    requests: expectedRequests(plan.load),
    neededMs: longestRunMs(plan.load),
  });
  const count = expectedRequests(plan.load, owns);
  if (!plan.dev) describeFootprint({ role: roleFields, count, mount, health }).forEach(notice);
  const fixture = fixtureOf(plan, health, token);
  return {
    ...fixture,
    path: apiPath(fixture.basePath, mount, sign ? 'sign' : 'issue', role),
    serials: createSerialMemory(),
    csrs: sign ? await makeCsrs(context, roleFields) : null,
  };
}

/** @param {Plan} plan */
function question({ options: { role, sign, keyType, ttl, ...names }, load }) {
  return {
    operation: /** @type {'issue' | 'sign'} */ (sign ? 'sign' : 'issue'),
    role,
    ...namesOf(names, load.seed, 0),
    ttl: ttl === null ? null : `${Math.round(ttl / 1000)}s`,
    ...describeKeyType(keyType),
  };
}

/**
 * @param {PrepareContext} context
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
