/** A two-level PKI, as in Vault's tutorials: root at `pki`, intermediate at `pki_int`. */
/** @import { VaultClient } from '../../src/vault/client.js' */

/**
 * @param {VaultClient} client with a root token
 * @param {{caKeyType?: 'rsa' | 'ec'}} [options]
 * @returns {Promise<{root: string, intermediate: string}>} their certificates in PEM
 */
export async function setUpPki(client, { caKeyType = 'rsa' } = {}) {
  const key = { key_type: caKeyType, key_bits: caKeyType === 'ec' ? 256 : 2048 };
  for (const mount of ['pki', 'pki_int']) {
    await client.write(`sys/mounts/${mount}`, { type: 'pki', config: { max_lease_ttl: '87600h' } });
    const base = `${client.origin}/v1/${mount}`;
    await client.write(`${mount}/config/urls`, {
      issuing_certificates: `${base}/ca`,
      crl_distribution_points: `${base}/crl`,
      ocsp_servers: `${base}/ocsp`,
    });
  }
  const root = await client.write('pki/root/generate/internal', {
    common_name: 'vault-pki-load test root',
    ttl: '87600h',
    ...key,
  });
  const request = await client.write('pki_int/intermediate/generate/internal', {
    common_name: 'vault-pki-load test intermediate',
    ...key,
  });
  const signed = await client.write('pki/root/sign-intermediate', {
    csr: request.data?.csr,
    common_name: 'vault-pki-load test intermediate',
    ttl: '43800h',
    format: 'pem_bundle',
  });
  await client.write('pki_int/intermediate/set-signed', { certificate: signed.data?.certificate });
  for (const [name, role] of Object.entries(ROLES)) await client.write(`pki_int/roles/${name}`, role);
  return { root: root.data?.certificate, intermediate: signed.data?.certificate };
}

const NAMES = {
  allowed_domains: 'example.com',
  allow_subdomains: true,
  allow_localhost: true,
  max_ttl: '720h',
};
const ROLES = {
  'example-dot-com': { ...NAMES },
  'ec-no-store': { ...NAMES, key_type: 'ec', key_bits: 256, no_store: true },
  'ec-stored': { ...NAMES, key_type: 'ec', key_bits: 256 },
  ed25519: { ...NAMES, key_type: 'ed25519' },
  any: { allow_any_name: true, enforce_hostnames: false, key_type: 'any', max_ttl: '720h' },
};
