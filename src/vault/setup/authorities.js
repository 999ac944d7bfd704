/** The CAs of a set-up: a root, and an intermediate that it signed, with the URLs that certificates name, and roles. */
import { X509Certificate } from 'node:crypto';
import { usageError } from '../../common/errors.js';
import { waitUntilReady } from '../own-mount.js';
import { otherName } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { SetupPlan } from './setup-plan.js' */
/** @import { Recorder } from './setup.js' */

const NAME = 'vault-pki-load test';

/** @type {Readonly<Record<'rsa' | 'ec', {text: string, key: Record<string, unknown>}>>} */
const KEYS = Object.freeze({
  rsa: { text: 'RSA-2048', key: { key_type: 'rsa', key_bits: 2048 } },
  ec: { text: 'P-256', key: { key_type: 'ec', key_bits: 256 } },
});

/** When CRLs are rebuilt. @param {boolean} isAuto `auto_rebuild` */
const rebuilt = (isAuto) => (isAuto ? 'now and then (auto_rebuild)' : 'with every revocation');

/**
 * A CA that is there is never replaced, so its key must be of the type that is asked for, where one is.
 *
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @param {ReadonlySet<string>} present paths of mounts that are there
 * @returns {Promise<Map<string, string>>} of the CAs that are there, by mount: the type of the key
 * @throws {PkiLoadError} code `other_ca_key` or `other_auto_rebuild`
 */
export async function checkAuthorities(client, plan, present) {
  const { name, root, intermediate, caKeyType } = plan;
  /** @type {Map<string, string>} */
  const keyTypes = new Map();
  for (const mount of [root, intermediate]) {
    if (!present.has(mount) || !(await hasCa(client, mount))) continue;
    const { data } = await client.read(`${mount}/cert/ca`);
    const actual = String(new X509Certificate(String(data?.certificate)).publicKey.asymmetricKeyType);
    if (caKeyType !== null && actual !== caKeyType) {
      const option = plan.keepsSettings ? 'setup.ca-key-type' : '--ca-key-type';
      throw usageError(
        'other_ca_key',
        `${mount} has a CA already, whose key is of type ${actual}, and ${option} is ${caKeyType}.`,
        `Nothing was changed. Leave ${option} out, run vault-pki-load teardown --name ${name} on the same target first, or choose ${otherName(plan)}.`,
      );
    }
    if (mount === intermediate) await checkRebuild(client, plan);
    keyTypes.set(mount, actual);
  }
  return keyTypes;
}

/** @param {VaultClient} client @param {SetupPlan} plan whose intermediate is there */
async function checkRebuild(client, { name, intermediate, autoRebuild, keepsSettings }) {
  if (!keepsSettings || autoRebuild === null) return;
  const { data } = await client.read(`${intermediate}/config/crl`);
  const isAuto = Boolean(data?.auto_rebuild);
  if (isAuto === autoRebuild) return;
  throw usageError(
    'other_auto_rebuild',
    `${intermediate} was there before, and its CRLs are rebuilt ${rebuilt(isAuto)}; with auto-rebuild: ${autoRebuild} they would be ${rebuilt(autoRebuild)}.`,
    `Nothing was changed. Leave auto-rebuild out, choose another name, or run vault-pki-load setup --name ${name} --auto-rebuild${autoRebuild ? '' : '=false'} on the same target first.`,
  );
}

/**
 * @param {VaultClient} client
 * @param {SetupPlan} plan
 * @param {ReadonlyMap<string, string>} keyTypes of the CAs that are there
 * @param {Recorder} recorder
 */
export async function makeAuthorities(client, plan, keyTypes, recorder) {
  const { root, intermediate } = plan;
  const type = typeToMake(plan, keyTypes);
  const { text, key } = KEYS[type];
  // First, since certificates name the URLs of the time when they are made.
  for (const mount of [root, intermediate]) await setUrls(client, mount, recorder);
  await recorder.ensure(
    { kind: 'ca', path: root, type: keyTypes.get(root) ?? type },
    keyTypes.has(root),
    () =>
      client.write(`${root}/root/generate/internal`, { common_name: `${NAME} root`, ttl: '87600h', ...key }),
    `Made a root CA in ${root} (${text}).`,
  );
  // Before the CA: checkRebuild refuses an existing one with another setting, and this one may remain half-made.
  await setRebuild(client, plan, recorder);
  await recorder.ensure(
    { kind: 'ca', path: intermediate, type: keyTypes.get(intermediate) ?? type },
    keyTypes.has(intermediate),
    () => makeIntermediate(client, plan, key),
    `Made a CA in ${intermediate}, signed by the one in ${root} (${text}).`,
  );
  await makeRoles(client, plan, recorder);
}

/**
 * @param {SetupPlan} plan
 * @param {ReadonlyMap<string, string>} keyTypes of the CAs that are there
 * @returns {keyof typeof KEYS} as asked, else like a CA that is there
 */
function typeToMake({ caKeyType }, keyTypes) {
  if (caKeyType !== null) return caKeyType;
  return [...keyTypes.values()].includes('ec') ? 'ec' : 'rsa';
}

/** @param {VaultClient} client @param {SetupPlan} plan @param {Record<string, unknown>} key */
async function makeIntermediate(client, { root, intermediate }, key) {
  const common_name = `${NAME} intermediate`;
  const request = await client.write(`${intermediate}/intermediate/generate/internal`, {
    common_name,
    ...key,
  });
  const signed = await client.write(`${root}/root/sign-intermediate`, {
    csr: request.data?.csr,
    common_name,
    ttl: '43800h',
    format: 'pem_bundle',
  });
  await client.write(`${intermediate}/intermediate/set-signed`, { certificate: signed.data?.certificate });
}

/** @param {VaultClient} client @param {string} mount @param {Recorder} recorder */
async function setUrls(client, mount, recorder) {
  const path = `${mount}/config/urls`;
  const { data } = await waitUntilReady(() => client.read(path));
  const { origin, basePath, namespace } = client;
  const inside = (namespace ?? '').replace(/^\/+|\/+$/g, '');
  const base = [`${origin}${basePath}/v1`, ...(['', 'root'].includes(inside) ? [] : [inside]), mount].join(
    '/',
  );
  await recorder.ensure(
    { kind: 'urls', path },
    (data?.ocsp_servers ?? []).length > 0,
    () =>
      client.write(path, {
        issuing_certificates: `${base}/ca`,
        crl_distribution_points: `${base}/crl`,
        ocsp_servers: `${base}/ocsp`,
      }),
    `Certificates of ${mount} will name ${base}/ca, /crl and /ocsp.`,
  );
}

/** @param {VaultClient} client @param {SetupPlan} plan @param {Recorder} recorder */
async function setRebuild(client, { intermediate, autoRebuild }, recorder) {
  const path = `${intermediate}/config/crl`;
  const { data } = await client.read(path);
  await recorder.ensure(
    { kind: 'crl', path },
    autoRebuild === null || Boolean(data?.auto_rebuild) === autoRebuild,
    () => client.write(path, { auto_rebuild: autoRebuild }),
    `CRLs of ${intermediate} are rebuilt ${rebuilt(Boolean(autoRebuild))}.`,
  );
}

/** @param {VaultClient} client @param {SetupPlan} plan @param {Recorder} recorder */
async function makeRoles(client, { intermediate, roles }, recorder) {
  const present = new Set(await client.list(`${intermediate}/roles`));
  for (const [name, role] of Object.entries(roles)) {
    const path = `${intermediate}/roles/${name}`;
    const make = () => client.write(path, role);
    await recorder.ensure(
      { kind: 'role', path },
      present.has(name),
      make,
      `Made the role ${name} of ${intermediate}.`,
    );
  }
}

/** @param {VaultClient} client @param {string} mount */
async function hasCa(client, mount) {
  const { data } = await waitUntilReady(() => client.read(`${mount}/config/issuers`));
  return Boolean(data?.default);
}
