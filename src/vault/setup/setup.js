/** Makes on a real Vault what operations need. What an earlier setup made stays as it is; what others made is refused. */
import { PkiLoadError, usageError } from '../../common/errors.js';
import { checkHealth } from '../check-target.js';
import { PREFIX, waitUntilReady } from '../own-mount.js';
import { checkAuthorities, makeAuthorities } from './authorities.js';
import { checkRights, findExisting, refuseOthers, rightsToLook, rightsToSetUp } from './inspect.js';
import { describe, fullPath, KEY, possibleMounts, ROLE } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { Mount, SetupPlan } from './setup-plan.js' */

/**
 * @typedef {object} Item
 * @property {'mount' | 'auth' | 'ca' | 'urls' | 'crl' | 'role' | 'key' | 'policy'} kind
 * @property {string} path below `/v1/`; of a policy, its name
 * @property {string} [type] of a mount; of a CA's key
 * @property {boolean} [uncertain] no response, or one that Vault failed: it may exist
 */
/** @typedef {{made: Item[], there: Item[]}} SetupReport items that this setup created, and those that existed */
/** @typedef {ReturnType<typeof createRecorder>} Recorder */

/** What the embedded server calls itself. */
const DEV_PRODUCT = 'vault-pki-load dev';

/**
 * Everything is looked at before anything is made.
 *
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @param {(text: string) => void} say reports each creation in a sentence
 * @param {SetupReport} [report] filled step by step; complete even where this throws
 * @returns {Promise<SetupReport>}
 * @throws {PkiLoadError} items created until then stay, for teardown to remove; the caller reports that
 */
export async function setUp(client, plan, say, report = { made: [], there: [] }) {
  const { name } = plan;
  const { product } = await checkHealth(client, { namespace: client.namespace, isStandbyFine: true });
  if (product === DEV_PRODUCT) throw needsNone(client.origin);
  await checkRights(client, rightsToLook(name), 'setup');
  const there = await findExisting(client, name);
  refuseOthers(there, plan);
  const present = new Set(there.mounts.map(({ full }) => full));
  const whole = withPresent(plan, present);
  await checkRights(client, rightsToSetUp(whole), 'setup');
  const keyTypes = await checkAuthorities(client, whole, present);
  const recorder = createRecorder(report, say);
  await makeMounts(client, whole, present, report, say);
  await makeAuthorities(client, whole, keyTypes, recorder);
  await makeContents(client, whole, recorder);
  await makePolicy(client, whole, there.policy?.text ?? null, recorder);
  return report;
}

/**
 * @param {SetupPlan} plan
 * @param {ReadonlySet<string>} present full paths of mounts of ours
 * @returns {SetupPlan} engines that an earlier setup made and this one does not name belong to it
 */
function withPresent(plan, present) {
  const asked = new Set(plan.mounts.map(fullPath));
  const mounts = possibleMounts(plan.name).filter((mount) => {
    const full = fullPath(mount);
    return asked.has(full) || present.has(full);
  });
  return { ...plan, mounts };
}

/**
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @param {ReadonlySet<string>} present
 * @param {SetupReport} report
 * @param {(text: string) => void} say
 */
async function makeMounts(client, plan, present, report, say) {
  const items = plan.mounts.map((mount) => ({ mount, item: itemOf(mount) }));
  // Lists what exists before creating anything: that stays, wherever this ends.
  report.there.push(...items.flatMap(({ item }) => (present.has(item.path) ? item : [])));
  for (const { mount, item } of items.filter(({ item }) => !present.has(item.path))) {
    const { path, type } = item;
    // From now on it may be there, also for who reads the report while Vault has not answered.
    const at = report.made.push({ ...item, uncertain: true }) - 1;
    try {
      await client.write(`sys/${mount.kind}/${mount.path}`, { type, ...mount.settings });
    } catch (error) {
      if (!isUncertain(error)) report.made.splice(at, 1);
      throw error;
    }
    report.made[at] = item;
    say(`Mounted ${path} (${type}).`);
  }
}

/** @param {SetupReport} report to be filled @param {(text: string) => void} say */
function createRecorder(report, say) {
  return {
    /** @type {(item: Item, isPresent: boolean, make: () => Promise<unknown>, sentence: string) => Promise<void>} */
    async ensure(item, isPresent, make, sentence) {
      if (isPresent) report.there.push(item);
      else {
        await make();
        report.made.push(item);
        say(sentence);
      }
    },
  };
}

/** @param {SetupPlan['mounts'][number]} mount @returns {Item} */
function itemOf(mount) {
  return { kind: mount.kind === 'auth' ? 'auth' : 'mount', path: fullPath(mount), type: mount.type };
}

/** @param {unknown} error */
function isUncertain(error) {
  if (!(error instanceof PkiLoadError)) return true;
  const isRefusal = /^(vault|token)_/.test(error.code) && error.code !== 'vault_internal_error';
  return !isRefusal && error.code !== 'interrupted';
}

/** @param {VaultClient} client @param {SetupPlan} plan @param {Recorder} recorder */
async function makeContents(client, { mounts, policy }, recorder) {
  for (const mount of mounts) {
    const path = fullPath(mount);
    // A version 2 store refuses everything for a moment after it was mounted.
    if (mount.type === 'kv') await waitUntilReady(() => client.read(`${path}/config`));
    if (mount.type === 'transit') {
      const key = `${path}/keys/${KEY}`;
      await recorder.ensure(
        { kind: 'key', path: key },
        (await waitUntilReady(() => client.list(`${path}/keys`))).includes(KEY),
        () => client.write(key, { type: 'aes256-gcm96' }),
        `Made the key ${KEY} of ${path} (aes256-gcm96).`,
      );
    }
    if (mount.type === 'approle') {
      const role = `${path}/role/${ROLE}`;
      await recorder.ensure(
        { kind: 'role', path: role },
        (await waitUntilReady(() => client.list(`${path}/role`))).includes(ROLE),
        () => client.write(role, { token_policies: [policy], token_ttl: '1h', token_max_ttl: '24h' }),
        `Made the role ${ROLE} of ${path}, whose tokens have the policy ${policy}.`,
      );
    }
  }
}

/**
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @param {string | null} present its text
 * @param {Recorder} recorder
 */
async function makePolicy(client, plan, present, recorder) {
  const text = policyText(plan);
  await recorder.ensure(
    { kind: 'policy', path: plan.policy },
    present === text,
    () => client.write(`sys/policies/acl/${plan.policy}`, { policy: text }),
    `${present === null ? 'Wrote' : 'Rewrote'} the policy ${plan.policy}.`,
  );
}

/** @param {string} origin */
function needsNone(origin) {
  return usageError(
    'dev_needs_no_setup',
    `${origin} is the embedded PKI server, which has one PKI mount, with roles, and takes no other.`,
    'Use it as it is; setup is for a real Vault: give its URL with --url (VAULT_ADDR).',
  );
}

/** @typedef {{path: string, able: string[], parameters?: Record<string, unknown[]>}} Rule `parameters`: others are refused; no values: any */

/** What makeOwnMount and the operations write. */
const MOUNT_PARAMETERS = Object.freeze({ description: [], options: [] });
const APPROLE_PARAMETERS = Object.freeze({
  token_type: [],
  token_ttl: [],
  token_max_ttl: [],
  token_num_uses: [],
  // A value that is a list must be that list.
  token_policies: [['default']],
  secret_id_num_uses: [],
  secret_id_ttl: [],
});

/** @param {SetupPlan} plan @returns {string} HCL */
export function policyText({ name, intermediate, mounts }) {
  const beside = mounts.filter(({ type }) => type !== 'pki');
  const rules = [...pkiRules(intermediate), ...beside.flatMap(mountRules), ...beside.flatMap(ownMountRules)];
  return [`# ${describe(name)}`, ...rules.map(ruleText), ''].join('\n');
}

/** @param {string} mount @returns {Rule[]} */
function pkiRules(mount) {
  return [
    { path: `${mount}/issue/+`, able: ['update'] },
    { path: `${mount}/sign/+`, able: ['update'] },
    { path: `${mount}/sign-verbatim`, able: ['update'] },
    { path: `${mount}/sign-verbatim/+`, able: ['update'] },
    { path: `${mount}/revoke`, able: ['update'] },
    { path: `${mount}/roles`, able: ['list'] },
    { path: `${mount}/roles/+`, able: ['read'] },
    { path: `${mount}/config/crl`, able: ['read'] },
  ];
}

/** @param {Mount} mount of the set-up @returns {Rule[]} */
function mountRules(mount) {
  const path = fullPath(mount);
  if (mount.type === 'kv')
    return [{ path: `${path}/*`, able: ['create', 'read', 'update', 'delete', 'list'] }];
  if (mount.type === 'approle') return [];
  return [
    ...['encrypt', 'decrypt', 'sign', 'verify'].map((action) => ({
      path: `${path}/${action}/+`,
      able: ['update'],
    })),
    { path: `${path}/keys/+`, able: ['read'] },
  ];
}

/** @param {Mount} mount operations make such themselves: see operations/own-mount.js @returns {Rule[]} */
function ownMountRules({ kind, type }) {
  const path = `${PREFIX}-${type}-*`;
  const mounting = {
    path: `sys/${kind}/${path}`,
    // Vault asks for sudo where auth methods are mounted.
    able: ['create', 'read', 'update', 'delete', ...(kind === 'auth' ? ['sudo'] : [])],
    parameters: { type: [type], ...MOUNT_PARAMETERS },
  };
  if (type === 'approle') {
    const able = ['create', 'read', 'update'];
    return [mounting, { path: `auth/${path}`, able, parameters: APPROLE_PARAMETERS }];
  }
  return [mounting, { path, able: ['create', 'read', 'update', 'delete'] }];
}

/** @param {Rule} rule */
function ruleText({ path, able, parameters }) {
  const lines = [`capabilities = ${JSON.stringify(able)}`];
  if (parameters !== undefined) {
    const allowed = Object.entries(parameters).map(([key, values]) => `${key} = ${JSON.stringify(values)}`);
    lines.push(`allowed_parameters = {`, ...allowed.map((line) => `  ${line}`), '}');
  }
  return [`path ${JSON.stringify(path)} {`, ...lines.map((line) => `  ${line}`), '}'].join('\n');
}
