/** Makes on a real Vault what operations need. What is there already, and ours, is left as it is; what is somebody else's is refused. */
import { PkiLoadError, usageError } from '../errors.js';
import { untilReady } from '../operations/own-mount.js';
import { describe, policyText } from './plan.js';

/** @typedef {import('../vault/client.js').VaultClient} VaultClient */
/** @typedef {import('./plan.js').SetupPlan} SetupPlan */
/** @typedef {import('./plan.js').Mount} Mount */

/**
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @param {(text: string) => void} say what was made, a sentence each
 * @throws {PkiLoadError} what was made until then stays, for teardown to take away
 */
export async function setUp(client, plan, say) {
  const there = await lookAround(client, plan);
  for (const mount of plan.mounts) {
    const full = mount.kind === 'auth' ? `auth/${mount.path}` : mount.path;
    if (there.has(full)) say(`${full} is there already.`);
    else {
      await client.write(`sys/${mount.kind}/${mount.path}`, { type: mount.type, ...mount.settings });
      say(`Mounted ${full} (${mount.type}).`);
    }
  }
  await makeAuthorities(client, plan, say);
  await client.write(`sys/policies/acl/${plan.policy}`, { policy: policyText(plan) });
  say(`Wrote the policy ${plan.policy}.`);
}

/**
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @returns {Promise<Set<string>>} our mounts that are there, by their full path
 * @throws {PkiLoadError} code `not_ours`
 */
async function lookAround(client, plan) {
  /** @type {Set<string>} */
  const ours = new Set();
  for (const { kind, path, type } of plan.mounts) {
    const found = (await mountsOf(client, kind))[`${path}/`];
    if (found === undefined) continue;
    const full = kind === 'auth' ? `auth/${path}` : path;
    if (found.description !== describe(plan.name) || found.type !== type) {
      throw usageError(
        'not_ours',
        `There is a mount ${full} (${found.type}) already, which this set-up did not make.`,
        'Nothing was changed. Choose another name with --name.',
      );
    }
    ours.add(full);
  }
  const policy = await readPolicy(client, plan.policy);
  if (policy !== null && !policy.includes(`# ${describe(plan.name)}`)) {
    throw usageError(
      'not_ours',
      `There is a policy ${plan.policy} already, which this set-up did not make.`,
      'Nothing was changed. Choose another name with --name.',
    );
  }
  return ours;
}

/**
 * @param {VaultClient} client
 * @param {'mounts' | 'auth'} kind
 * @returns {Promise<Record<string, any>>} by path, with a slash at the end
 */
export async function mountsOf(client, kind) {
  const { data } = await client.read(`sys/${kind}`);
  return data ?? {};
}

/**
 * @param {VaultClient} client
 * @param {string} name
 * @returns {Promise<string | null>} null: there is none
 */
export async function readPolicy(client, name) {
  try {
    return String((await client.read(`sys/policies/acl/${name}`)).data?.policy ?? '');
  } catch (error) {
    if (error instanceof PkiLoadError && error.code === 'vault_not_found') return null;
    throw error;
  }
}

/**
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @param {(text: string) => void} say
 */
async function makeAuthorities(client, { root, intermediate, roles, caKeyType, autoRebuild }, say) {
  const key = { key_type: caKeyType, key_bits: caKeyType === 'ec' ? 256 : 2048 };
  for (const mount of [root, intermediate]) {
    const base = `${client.origin}${client.basePath}/v1/${mount}`;
    await untilReady(() =>
      client.write(`${mount}/config/urls`, {
        issuing_certificates: `${base}/ca`,
        crl_distribution_points: `${base}/crl`,
        ocsp_servers: `${base}/ocsp`,
      }),
    );
  }
  if (await hasIssuer(client, intermediate)) say(`${intermediate} has its CA already.`);
  else {
    if (!(await hasIssuer(client, root))) {
      const asked = { common_name: 'vault-pki-load test root', ttl: '87600h', ...key };
      await client.write(`${root}/root/generate/internal`, asked);
    }
    const name = 'vault-pki-load test intermediate';
    const request = await client.write(`${intermediate}/intermediate/generate/internal`, {
      common_name: name,
      ...key,
    });
    const signed = await client.write(`${root}/root/sign-intermediate`, {
      csr: request.data?.csr,
      common_name: name,
      ttl: '43800h',
      format: 'pem_bundle',
    });
    await client.write(`${intermediate}/intermediate/set-signed`, { certificate: signed.data?.certificate });
    say(
      `Made a CA in ${intermediate}, signed by one in ${root} (${caKeyType === 'ec' ? 'P-256' : 'RSA-2048'}).`,
    );
  }
  await client.write(`${intermediate}/config/crl`, { auto_rebuild: autoRebuild });
  for (const [name, role] of Object.entries(roles)) await client.write(`${intermediate}/roles/${name}`, role);
  say(`Wrote the roles ${Object.keys(roles).join(', ')} of ${intermediate}.`);
}

/**
 * @param {VaultClient} client
 * @param {string} mount
 */
async function hasIssuer(client, mount) {
  return (await client.list(`${mount}/issuers`)).length > 0;
}
