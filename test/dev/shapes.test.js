/**
 * Field names as Vault 1.21.1 answered them (November 2026, `vault server -dev`, default role settings). A
 * difference from this table is drift; what differs on purpose is listed as such.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { ask } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

const ENVELOPE = 'auth data lease_duration lease_id mount_type renewable request_id warnings wrap_info';
const MOUNT =
  'accessor config deprecation_status description external_entropy_access local options plugin_version ' +
  'running_plugin_version running_sha256 seal_wrap type uuid';
const ROLE =
  'allow_any_name allow_bare_domains allow_glob_domains allow_ip_sans allow_localhost allow_subdomains ' +
  'allow_token_displayname allow_wildcard_certificates allowed_domains allowed_domains_template allowed_other_sans ' +
  'allowed_serial_numbers allowed_uri_sans allowed_uri_sans_template allowed_user_ids ' +
  'basic_constraints_valid_for_non_ca client_flag cn_validations code_signing_flag country email_protection_flag ' +
  'enforce_hostnames ext_key_usage ext_key_usage_oids generate_lease issuer_ref key_bits key_type key_usage locality ' +
  'max_ttl no_store not_after not_before_duration organization ou policy_identifiers postal_code province require_cn ' +
  'serial_number_source server_flag signature_bits street_address ttl use_csr_common_name use_csr_sans use_pss';
const HEALTH =
  'clock_skew_ms cluster_id cluster_name echo_duration_ms enterprise initialized performance_standby ' +
  'replication_dr_mode replication_performance_mode replication_primary_canary_age_ms sealed server_time_utc standby version';
const SEAL =
  'build_date cluster_id cluster_name initialized migration n nonce progress recovery_seal sealed storage_type t type version';
const TOKEN =
  'accessor creation_time creation_ttl display_name entity_id expire_time explicit_max_ttl id issue_time meta num_uses ' +
  'orphan path policies renewable ttl type';
const ISSUE =
  'authority_key_id ca_chain certificate expiration issuing_ca private_key private_key_type serial_number';
const CERT = 'authority_key_id certificate revocation_time revocation_time_rfc3339';
const LOCAL = { common_name: 'localhost', ttl: '1h' };
const EC = 'pki_int/issue/example-dot-com-ec';

/** Method, path, body, field names of `data`, `mount_type`. */
const SECRETS = /** @type {[string, string, object | undefined, string, string][]} */ ([
  ['GET', 'auth/token/lookup-self', undefined, TOKEN, 'token'],
  ['GET', 'sys/internal/ui/mounts/pki_int', undefined, `${MOUNT} path`, ''],
  ['GET', 'sys/internal/ui/mounts/pki_int/issue/x', undefined, `${MOUNT} path`, ''],
  ['GET', 'pki_int/roles/example-dot-com', undefined, ROLE, 'pki'],
  ['LIST', 'pki_int/roles', undefined, 'keys', 'pki'],
  ['GET', 'pki_int/roles?list=true', undefined, 'keys', 'pki'],
  ['POST', EC, LOCAL, ISSUE, 'pki'],
  ['PUT', EC, LOCAL, ISSUE, 'pki'],
  ['LIST', 'pki_int/certs', undefined, 'keys', 'pki'],
  ['GET', 'pki_int/cert/ca', undefined, CERT, ''],
]);

/** Method, path, media type; no token needed. */
const RAW = [
  ['pki_int/ca', 'application/pkix-cert'],
  ['pki_int/ca/pem', 'application/pem-certificate-chain'],
  ['pki_int/ca_chain', 'application/pkix-cert'],
  ['pki_int/crl', 'application/pkix-crl'],
  ['pki_int/crl/pem', 'application/x-pem-file'],
];

/** @param {object} value */
const fields = (value) => Object.keys(value).sort().join(' ');
/** @param {string} names */
const sorted = (names) => names.split(' ').sort().join(' ');

describe('responses have the fields of Vault 1.21.1', () => {
  /** @type {DevServer} */
  let server;
  before(async () => {
    server = await createDevServer({ caKeyType: 'ec' });
    await ask(server, 'POST', EC, LOCAL);
  });
  after(() => server.close());

  for (const [method, path, body, data, mountType] of SECRETS) {
    it(`${method} ${path}`, async () => {
      const { status, headers, json } = await ask(server, method, path, body);
      assert.equal(status, 200);
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(fields(json), ENVELOPE);
      assert.equal(fields(json.data), sorted(data));
      assert.equal(json.mount_type, mountType);
    });
  }

  for (const [path, type] of RAW) {
    it(`GET ${path} is ${type}`, async () => {
      const { status, headers } = await ask({ url: server.url }, 'GET', path);
      assert.equal(status, 200);
      assert.equal(headers['content-type'], type);
    });
  }

  it('sys/ responses: health and seal status have no envelope; mounts and capabilities are repeated at the top level', async () => {
    const anonymous = { url: server.url };
    const health = await ask(anonymous, 'GET', 'sys/health?standbyok=true&perfstandbyok=true');
    assert.equal(fields(health.json), HEALTH);
    assert.match(health.json.version, /^vault-pki-load-dev\/\d+\.\d+\.\d+$/);
    const head = await ask(anonymous, 'HEAD', 'sys/health');
    assert.deepEqual([head.status, head.body.length], [200, 0]);
    assert.equal(fields((await ask(anonymous, 'GET', 'sys/seal-status')).json), SEAL);
    const mounts = (await ask(server, 'GET', 'sys/mounts')).json;
    assert.equal(fields(mounts), sorted(`${ENVELOPE} pki_int/`));
    assert.equal(fields(mounts['pki_int/']), MOUNT);
    const paths = ['pki_int/issue/x', 'sys/health'];
    const { json } = await ask(server, 'POST', 'sys/capabilities-self', { paths });
    assert.deepEqual(json.data, { 'pki_int/issue/x': ['root'], 'sys/health': ['root'] });
    const single = await ask(server, 'POST', 'sys/capabilities-self', { path: 'a' });
    assert.deepEqual(single.json.data, { a: ['root'], capabilities: ['root'] });
  });

  it('cert/:serial of an issued and of a revoked certificate', async () => {
    const { data } = (await ask(server, 'POST', EC, LOCAL)).json;
    const path = `pki_int/cert/${data.serial_number}`;
    assert.equal(fields((await ask(server, 'GET', path)).json.data), CERT);
    const revoked = await ask(server, 'POST', 'pki_int/revoke', { serial_number: data.serial_number });
    assert.equal(fields(revoked.json.data), 'revocation_time revocation_time_rfc3339 state');
    assert.equal(fields((await ask(server, 'GET', path)).json.data), sorted(`${CERT} issuer_id`));
  });

  it('role values are those of the tutorial role', async () => {
    const { data } = (await ask(server, 'GET', 'pki_int/roles/example-dot-com')).json;
    const { key_type, key_bits, max_ttl, ttl, no_store, generate_lease, allowed_domains } = data;
    assert.deepEqual(
      { key_type, key_bits, max_ttl, ttl, no_store, generate_lease, allowed_domains },
      {
        key_type: 'rsa',
        key_bits: 2048,
        max_ttl: 2_592_000,
        ttl: 0,
        no_store: false,
        generate_lease: false,
        allowed_domains: ['example.com'],
      },
    );
  });
});

it('accepts the token as a bearer token, too', async () => {
  const server = await createDevServer({ caKeyType: 'ec', token: 'given' });
  const headers = { Authorization: 'Bearer given' };
  const { status } = await ask({ url: server.url }, 'LIST', 'pki_int/roles', undefined, headers);
  assert.equal(status, 200);
  await server.close();
});
