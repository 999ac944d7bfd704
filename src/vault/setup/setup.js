/** Creates a PKI and other engines on a real Vault. Keeps objects of an earlier setup; refuses foreign ones. */
import { usageError } from '../../common/errors.js';
import { isSocket } from '../../common/options.js';
import { checkHealth, readIssuer } from '../check-target.js';
import { listOf, mayHaveTakenEffect } from '../client.js';
import { withoutSlashes } from '../environment.js';
import { untilReady } from '../own-mount.js';
import { checkGrants, findExisting, grantsToInspect, grantsToSetUp, refuseOthers } from './inspect.js';
import { CONTENT_NAME, CONTENTS, mountApi, otherName, policyText, possibleMounts } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { SetupPlan } from './setup-plan.js' */

/**
 * `path`: below `/v1/`, of a policy its name; `type`: of a mount, or of a CA's key; `uncertain`: it may exist, because Vault
 * did not respond or failed
 * @typedef {{kind: 'mount' | 'auth' | 'ca' | 'urls' | 'crl' | 'role' | 'key' | 'policy', path: string, type?: string,
 *   uncertain?: boolean}} Item
 */
/** @typedef {{created: Item[], existing: Item[]}} SetupReport created by this setup, and existing before */
/** @typedef {(item: Item, isPresent: boolean, make: () => Promise<unknown>, sentence: string) => Promise<void>} Ensure */

const KEYS = Object.freeze({
  rsa: { text: 'RSA-2048', key: { key_type: 'rsa', key_bits: 2048 } },
  ec: { text: 'P-256', key: { key_type: 'ec', key_bits: 256 } },
});

/** When CRLs are rebuilt. @param {boolean} isAuto `auto_rebuild` */
const rebuilt = (isAuto) => (isAuto ? 'periodically (auto_rebuild)' : 'on every revocation');

/**
 * Checks everything before it creates anything.
 * @param {VaultClient} client @param {SetupPlan} plan
 * @param {(text: string) => void} log receives a sentence on each creation
 * @param {SetupReport} [report] filled step by step; complete even if this throws
 * @throws {PkiLoadError} items created until then stay; the caller reports that
 */
export async function setUp(client, plan, log, report = { created: [], existing: [] }) {
  const { name } = plan;
  const { product } = await checkHealth(client, { namespace: client.namespace, acceptsStandby: true });
  if (product === 'vault-pki-load dev') {
    const message = `${client.origin} is the embedded PKI server: it has a PKI with roles, and needs no setup.`;
    throw usageError('dev_needs_no_setup', message, 'Set --url (VAULT_ADDR) to a real Vault.');
  }
  await checkGrants(client, grantsToInspect(name), 'setup');
  const existing = await findExisting(client, name);
  refuseOthers(existing, plan);
  const present = new Set(existing.mounts.map(({ path }) => path));
  // Includes engines that an earlier setup created, even if this one does not name them.
  const wanted = new Set([...plan.mounts.map(({ path }) => path), ...present]);
  const mounts = possibleMounts(name).filter(({ path }) => wanted.has(path));
  const fullPlan = { ...plan, mounts };
  await checkGrants(client, grantsToSetUp(fullPlan), 'setup');
  const keyTypes = await checkCas(client, fullPlan, present);
  /** @type {Ensure} */
  const ensure = async (item, isPresent, make, sentence) => {
    if (isPresent) return void report.existing.push(item);
    await make();
    report.created.push(item);
    log(sentence);
  };
  await createMounts(client, fullPlan, present, report, log);
  await createCas(client, fullPlan, keyTypes, ensure);
  await createContents(client, fullPlan, ensure);
  const [text, oldText] = [policyText(fullPlan), existing.policy?.text];
  const make = () => client.write(`sys/policies/acl/${name}`, { policy: text });
  const sentence = `${oldText === undefined ? 'Wrote' : 'Rewrote'} the policy ${name}.`;
  await ensure({ kind: 'policy', path: name }, oldText === text, make, sentence);
  return report;
}

/**
 * @param {VaultClient} client @param {SetupPlan} plan @param {ReadonlySet<string>} present paths of existing mounts
 * @param {SetupReport} report @param {(text: string) => void} log
 */
async function createMounts(client, plan, present, report, log) {
  const { created, existing } = report;
  // Lists all existing mounts before creating any, so that the report is right however this ends.
  const kept = plan.mounts.filter(({ path }) => present.has(path));
  existing.push(...kept.map(({ kind, path, type }) => ({ kind, path, type })));
  for (const { settings, ...item } of plan.mounts.filter(({ path }) => !present.has(path))) {
    // The mount may exist from here on: the caller may read the report before Vault responds.
    const at = created.push({ ...item, uncertain: true }) - 1;
    try {
      await client.write(mountApi(item), { type: item.type, ...settings });
    } catch (error) {
      if (!mayHaveTakenEffect(error)) created.splice(at, 1);
      throw error;
    }
    created[at] = item;
    log(`Mounted ${item.path} (${item.type}).`);
  }
}

/**
 * An existing CA is never replaced: its key must be of the planned type, if the plan names one.
 * @param {VaultClient} client @param {SetupPlan} plan @param {ReadonlySet<string>} present paths of existing mounts
 * @returns {Promise<Map<string, string>>} key types of existing CAs, by mount
 * @throws {PkiLoadError} code `ca_key_type_differs` or `auto_rebuild_differs`
 */
async function checkCas(client, plan, present) {
  const { name, root, intermediate, caKeyType, autoRebuild } = plan;
  /** @type {Map<string, string>} */
  const keyTypes = new Map();
  for (const mount of [root, intermediate].filter((path) => present.has(path))) {
    const { data: issuers } = await untilReady(() => client.read(`${mount}/config/issuers`));
    if (!issuers?.default) continue;
    const actual = String((await readIssuer(client, mount)).publicKey.asymmetricKeyType);
    if (caKeyType !== null && actual !== caKeyType) {
      const option = plan.keepsSettings ? 'setup.ca-key-type' : '--ca-key-type';
      const message = `${mount} already has a CA with a key of type ${actual}, but ${option} is ${caKeyType}.`;
      const ways = `Leave ${option} out, run vault-pki-load teardown --name ${name} first, or choose ${otherName(plan)}.`;
      throw usageError('ca_key_type_differs', message, `Nothing was changed. ${ways}`);
    }
    keyTypes.set(mount, actual);
  }
  if (!plan.keepsSettings || autoRebuild === null || !keyTypes.has(intermediate)) return keyTypes;
  const isAuto = await readAutoRebuild(client, intermediate);
  if (isAuto === autoRebuild) return keyTypes;
  const message = `${intermediate} already exists and rebuilds its CRLs ${rebuilt(isAuto)}, but auto-rebuild is ${autoRebuild}.`;
  const command = `vault-pki-load setup --name ${name} --auto-rebuild${autoRebuild ? '' : '=false'}`;
  const ways = `Leave auto-rebuild out, choose another name, or run ${command} first.`;
  throw usageError('auto_rebuild_differs', message, `Nothing was changed. ${ways}`);
}

/** @param {VaultClient} client @param {string} mount */
async function readAutoRebuild(client, mount) {
  return Boolean((await client.read(`${mount}/config/crl`)).data?.auto_rebuild);
}

/** @param {VaultClient} client @param {SetupPlan} plan @param {ReadonlyMap<string, string>} keyTypes of CAs @param {Ensure} ensure */
async function createCas(client, plan, keyTypes, ensure) {
  const { root, intermediate, autoRebuild, roles } = plan;
  const type = plan.caKeyType ?? ([...keyTypes.values()].includes('ec') ? 'ec' : 'rsa');
  const { text, key } = KEYS[type];
  // URLs first: a certificate contains the URLs set when it is created.
  for (const mount of [root, intermediate]) await writeUrls(client, mount, ensure);
  const name = 'vault-pki-load test';
  const subject = { common_name: `${name} root`, ttl: '87600h', ...key };
  await ensure(
    { kind: 'ca', path: root, type: keyTypes.get(root) ?? type },
    keyTypes.has(root),
    () => client.write(`${root}/root/generate/internal`, subject),
    `Created a root CA in ${root} (${text}).`,
  );
  // Before the CA: an interrupted setup must not leave a CA whose setting checkCas then refuses.
  const crl = `${intermediate}/config/crl`;
  const isAuto = await readAutoRebuild(client, intermediate);
  const isSet = autoRebuild === null || isAuto === autoRebuild;
  const set = () => client.write(crl, { auto_rebuild: autoRebuild });
  const change = `CRLs of ${intermediate} are rebuilt ${rebuilt(Boolean(autoRebuild))}.`;
  await ensure({ kind: 'crl', path: crl }, isSet, set, change);
  await ensure(
    { kind: 'ca', path: intermediate, type: keyTypes.get(intermediate) ?? type },
    keyTypes.has(intermediate),
    async () => {
      const base = `${intermediate}/intermediate`;
      const subject = { common_name: `${name} intermediate` };
      const request = await client.write(`${base}/generate/internal`, { ...subject, ...key });
      const signing = { csr: request.data?.csr, ...subject, ttl: '43800h', format: 'pem_bundle' };
      const signed = await client.write(`${root}/root/sign-intermediate`, signing);
      await client.write(`${base}/set-signed`, { certificate: signed.data?.certificate });
    },
    `Created a CA in ${intermediate}, signed by ${root} (${text}).`,
  );
  const present = await client.list(`${intermediate}/roles`);
  for (const [role, fields] of Object.entries(roles)) {
    const path = `${intermediate}/roles/${role}`;
    const make = () => client.write(path, fields);
    const sentence = `Created the role ${role} in ${intermediate}.`;
    await ensure({ kind: 'role', path }, present.includes(role), make, sentence);
  }
}

/** Not through a Unix socket: no client could use its path. @param {VaultClient} client @param {string} mount @param {Ensure} ensure */
async function writeUrls(client, mount, ensure) {
  const { origin, basePath, namespace } = client;
  if (isSocket(origin)) return;
  const path = `${mount}/config/urls`;
  const { data } = await untilReady(() => client.read(path));
  const inside = withoutSlashes(namespace ?? '');
  const parts = ['', 'root'].includes(inside) ? [mount] : [inside, mount];
  const base = [`${origin}${basePath}/v1`, ...parts].join('/');
  const [issuing_certificates, crl_distribution_points] = [`${base}/ca`, `${base}/crl`];
  const urls = { issuing_certificates, crl_distribution_points, ocsp_servers: `${base}/ocsp` };
  const isPresent = listOf(data?.ocsp_servers).length > 0;
  const sentence = `Set the URLs in certificates of ${mount} to ${base}/ca, /crl and /ocsp.`;
  await ensure({ kind: 'urls', path }, isPresent, () => client.write(path, urls), sentence);
}

/** @param {VaultClient} client @param {SetupPlan} plan @param {Ensure} ensure */
async function createContents(client, { mounts, policy }, ensure) {
  const role = { token_policies: [policy], token_ttl: '1h', token_max_ttl: '24h' };
  const key = { type: 'aes256-gcm96' };
  for (const { path, type } of mounts) {
    if (type === 'kv') await untilReady(() => client.read(`${path}/config`));
    if (CONTENTS[type] === undefined) continue;
    const { kind, list } = CONTENTS[type];
    const [settings, details] = kind === 'key' ? [key, key.type] : [role, `tokens with the policy ${policy}`];
    const made = `${path}/${list}/${CONTENT_NAME}`;
    const present = await untilReady(() => client.list(`${path}/${list}`));
    const make = () => client.write(made, settings);
    const sentence = `Created the ${kind} ${CONTENT_NAME} in ${path} (${details}).`;
    await ensure({ kind, path: made }, present.includes(CONTENT_NAME), make, sentence);
  }
}
