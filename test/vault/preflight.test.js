/** The preflight checks against fake responses; preflight.vault.js uses a real Vault. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { redactToken } from '../../src/common/sanitize.js';
import { SKEW_MS } from '../../src/common/units.js';
import { createDevServer } from '../../src/dev/server.js';
import { ocsp } from '../../src/operations/ocsp.js';
import { findSubjects } from '../../src/operations/ocsp-prepare.js';
import { checkIssuance, issueBefore } from '../../src/operations/prepare.js';
import { revoke } from '../../src/operations/revoke.js';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { encodePem, serialHex } from '../../src/pki/text.js';
import { checkRole, describeFootprint, warnOfShortCa } from '../../src/vault/check-role.js';
import { checkHealth, checkIssuer, checkMount } from '../../src/vault/check-target.js';
import { checkToken, startRenewal } from '../../src/vault/check-token.js';
import { apiError } from '../../src/vault/client.js';
import { planOf } from '../operations/calls-support.js';
import { altNames, EXTENSIONS, TestCa } from '../pki/test-ca.js';

/**
 * A client with fixed responses: data by path, or a status and Vault's errors.
 *
 * @param {Record<string, {data?: any, auth?: any, status?: number, errors?: string[]}>} answers
 * @param {{status: number, json: any, aheadMs?: number | null}} [health]
 * @returns {any}
 */
function fakeClient(answers, health = { status: 200, json: {} }) {
  const origin = 'https://vault.test:8200';
  const ask = async (/** @type {string} */ method, /** @type {string} */ path) => {
    const answer = answers[path] ?? { status: 404, errors: [] };
    const { status = 200, errors = [], data = null, auth = null } = answer;
    if (status === 200) return { data, auth, warnings: [] };
    throw apiError({ status, json: { errors }, method, path, origin });
  };
  return {
    origin,
    basePath: '',
    hasToken: true,
    read: (/** @type {string} */ path) => ask('GET', path),
    write: (/** @type {string} */ path) => ask('POST', path),
    list: async (/** @type {string} */ path) => (await ask('GET', path)).data.keys,
    health: async () => health,
  };
}

describe('checkHealth', () => {
  const up = { initialized: true, sealed: false, standby: false, version: '1.21.1', enterprise: false };
  /** @type {[string, number, any, string][]} what, status, JSON, code or product */
  const table = [
    ['an active Vault', 200, up, 'Vault'],
    [
      'an old Vault without the field enterprise',
      200,
      { ...up, enterprise: undefined, version: '1.9.3' },
      'Vault',
    ],
    ['OpenBao', 200, { ...up, enterprise: undefined, version: '2.6.2' }, 'OpenBao'],
    ['our own server', 200, { ...up, version: 'vault-pki-load-dev/0.1.0' }, 'vault-pki-load dev'],
    ['a performance standby', 473, { ...up, standby: true, performance_standby: true }, 'Vault'],
    ['a standby', 429, { ...up, standby: true }, 'vault_standby'],
    ['a DR secondary', 472, { ...up, standby: true, replication_dr_mode: 'secondary' }, 'vault_dr_secondary'],
    ['not initialised', 501, { ...up, initialized: false, sealed: true }, 'vault_uninitialised'],
    ['sealed', 503, { ...up, sealed: true, standby: true }, 'vault_sealed'],
    ['a web server', 404, null, 'not_vault'],
    ['a web server that returns 200 for everything', 200, null, 'not_vault'],
    ['another API', 200, { status: 'UP' }, 'not_vault'],
    ['a redirect to a login page', 302, null, 'not_vault'],
  ];
  for (const [what, status, json, expected] of table) {
    test(`${what}: ${expected}`, async () => {
      const asked = checkHealth(fakeClient({}, { status, json }));
      if (/^[a-z]+_[a-z_]+$/.test(expected)) await assert.rejects(asked, { code: expected, exitCode: 2 });
      else assert.equal((await asked).product, expected);
    });
  }

  /** @type {[string, any, string, boolean][]} */
  const namespaces = [
    ['Vault Community Edition', up, 'team/a', false],
    ['Vault Community Edition, its one namespace', up, 'root', true],
    ['Vault Enterprise', { ...up, enterprise: true }, 'team/a', true],
    ['OpenBao', { ...up, enterprise: undefined, version: '2.6.2' }, 'team/a', true],
  ];
  for (const [what, json, namespace, works] of namespaces) {
    test(`namespace ${namespace} on ${what}: ${works ? 'accepted' : 'rejected'}`, async () => {
      const asked = checkHealth(fakeClient({}, { status: 200, json }), { namespace });
      if (works) await asked;
      else await assert.rejects(asked, { code: 'no_namespaces', exitCode: 2 });
    });
  }

  test('warns of a performance standby', async () => {
    const json = { ...up, standby: true, performance_standby: true };
    assert.match(
      (await checkHealth(fakeClient({}, { status: 473, json }))).warnings[0],
      /performance standby/,
    );
  });
});

describe('checkHealth compares the clocks', () => {
  const json = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
  const clock = 'The clock of https://vault.test:8200 is at least';
  /** @type {[aheadMs: number | null, warning: string | null][]} */
  const table = [
    [null, null],
    [SKEW_MS, null],
    [-SKEW_MS, null],
    [8999, `${clock} 8 s ahead of this machine's: valid certificates and responses may seem not valid yet.`],
    [-3_600_000, `${clock} 1 h behind this machine's: valid certificates and responses may seem expired.`],
  ];
  for (const [aheadMs, warning] of table)
    test(`the server's is ${aheadMs} ms ahead`, async () => {
      const { warnings } = await checkHealth(fakeClient({}, { status: 200, json, aheadMs }));
      assert.deepEqual(warnings, warning === null ? [] : [`${warning} Synchronize both clocks.`]);
    });
});

describe('checkToken if a bad token and a missing permission return the same error (OpenBao)', () => {
  const denied = { status: 403, errors: ['permission denied'] };

  test('rejects a token that can see no mount', async () => {
    const client = fakeClient({ 'auth/token/lookup-self': denied, 'sys/internal/ui/mounts': denied });
    await assert.rejects(checkToken(client), { code: 'token_invalid' });
  });

  for (const kind of ['secret', 'auth'])
    test(`accepts a token that can see a mount (${kind})`, async () => {
      const mounts = { data: { secret: {}, auth: {}, [kind]: { 'x/': { type: 'pki' } } } };
      const client = fakeClient({ 'auth/token/lookup-self': denied, 'sys/internal/ui/mounts': mounts });
      const { renewEveryMs, warnings } = await checkToken(client);
      assert.deepEqual([renewEveryMs, warnings.length], [null, 1]);
    });

  test('the maximum TTL counts from creation', async () => {
    const data = {
      ttl: 60,
      renewable: true,
      expire_time: 'x',
      creation_time: 1000,
      explicit_max_ttl: 600,
      type: 'service',
    };
    const client = fakeClient({ 'auth/token/lookup-self': { data } });
    const now = () => 1_300_000;
    await assert.rejects(checkToken(client, { neededMs: 280_000, now }), { code: 'token_expires' });
    assert.equal((await checkToken(client, { neededMs: 200_000, now })).renewEveryMs, 40_000);
    assert.deepEqual(
      await checkToken(client, { neededMs: 20_000, now }).then(({ renewEveryMs, warnings }) => [
        renewEveryMs,
        warnings,
      ]),
      [40_000, []],
      'long enough for the run, but not for what may come before it',
    );
    assert.equal(
      (await checkToken(client, { neededMs: 30_000, now })).renewEveryMs,
      45_000,
      'not in the run',
    );
    const { renewEveryMs, warnings } = await checkToken(client, { neededMs: null, now });
    assert.equal(renewEveryMs, 40_000);
    assert.match(
      warnings[0],
      /renewed during the run, but not for longer than 5 min: a longer run will fail/,
    );
  });
});

describe('checkIssuance', () => {
  test('starts to renew a token before the other checks, which take time', async () => {
    const data = { ttl: 6, renewable: true, expire_time: 'x', creation_time: 1000, type: 'service' };
    const json = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
    const client = fakeClient({ 'auth/token/lookup-self': { data } }, { status: 200, json });
    /** @type {number[]} */
    const kept = [];
    const context = /** @type {any} */ ({
      plan: { target: { url: 'http://v', mount: 'pki', namespace: null } },
      client,
      keepAlive: (/** @type {number} */ everyMs) => kept.push(everyMs),
      warn: () => {},
    });
    const asked = { operation: /** @type {const} */ ('issue'), role: 'r', commonName: 'a.test' };
    // The mount cannot be found.
    await assert.rejects(
      checkIssuance(context, { ...asked, usesBefore: 10, usesInRun: false, neededMs: 9000 }),
    );
    assert.deepEqual(kept, [4000]);
  });
});

describe('startRenewal', () => {
  test('warns of a shorter lease, and stops for good', async () => {
    /** @type {{callback: () => void, ms: number}[]} */
    const timers = [];
    /** @type {string[]} */
    const warnings = [];
    let cleared = 0;
    const client = fakeClient({ 'auth/token/renew-self': { auth: { lease_duration: 30 } } });
    const renewal = startRenewal(client, {
      renewEveryMs: 40_000,
      onWarning: ({ code }) => warnings.push(code),
      setTimer: (callback, ms) => timers.push({ callback, ms }),
      clearTimer: () => cleared++,
    });
    await timers[0].callback();
    assert.deepEqual(
      timers.map(({ ms }) => ms),
      [40_000, 3000],
    );
    assert.deepEqual(warnings, ['token_near_maximum']);
    renewal.stop();
    await timers[1].callback();
    assert.deepEqual([timers.length, warnings.length, cleared], [2, 1, 1]);
  });
});

describe('a token with an invalid TTL in the response', () => {
  for (const ttl of [undefined, null, -1, 'soon', {}, [60], '', Number.NaN]) {
    test(`ttl ${JSON.stringify(ttl)}: no renewal, and a warning`, async () => {
      const data = { ttl, renewable: true, expire_time: 'x', type: 'service' };
      const client = fakeClient({ 'auth/token/lookup-self': { data } });
      const { renewEveryMs, warnings } = await checkToken(client, { neededMs: 60_000 });
      assert.equal(renewEveryMs, null);
      assert.match(warnings[0], /does not report when the token expires/);
    });
  }

  test('ttl 0, but renewable: renewed every three seconds, no more often', async () => {
    const data = { ttl: 0, renewable: true, expire_time: 'x', type: 'service' };
    const facts = await checkToken(fakeClient({ 'auth/token/lookup-self': { data } }));
    assert.equal(facts.renewEveryMs, 3000);
  });

  test('a token of two seconds is renewed before they are over, later ones after three', async () => {
    const data = { ttl: 2, renewable: true, expire_time: 'x', type: 'service' };
    const client = fakeClient({
      'auth/token/lookup-self': { data },
      'auth/token/renew-self': { auth: { lease_duration: 2 } },
    });
    const facts = await checkToken(client, { neededMs: 60_000 });
    const waits = /** @type {number[]} */ ([]);
    let callback = () => {};
    const setTimer = (/** @type {() => void} */ given, /** @type {number} */ ms) => {
      callback = given;
      waits.push(ms);
    };
    startRenewal(client, { renewEveryMs: Number(facts.renewEveryMs), setTimer });
    await callback();
    assert.deepEqual(waits, [1334, 3000], 'whole milliseconds');
  });

  for (const lease of [undefined, null, 0, -5, 0.001, 1, 'x', {}, Number.NaN, 1e300]) {
    test(`renewed for ${JSON.stringify(lease)} seconds: the next renewal is at least three seconds away`, async () => {
      /** @type {number[]} */
      const waits = [];
      let callback = () => {};
      const client = fakeClient({ 'auth/token/renew-self': { auth: { lease_duration: lease } } });
      startRenewal(client, {
        renewEveryMs: 0,
        setTimer: (given, ms) => {
          callback = given;
          waits.push(ms);
        },
      });
      for (let i = 0; i < 3; i++) await callback();
      assert.equal(waits.length, 4);
      assert.ok(
        waits.every((ms) => ms >= 3000 && ms < 2 ** 31),
        `${waits}`,
      );
    });
  }
});

describe('a CA that ends before the certificates', () => {
  const HOUR = 3600;
  const caEndsMs = 700 * HOUR * 1000;
  /** @type {[string, any, string | null, any, boolean][]} what, role, requested ttl, the issuer, whether it warns */
  const TABLE = [
    ["the role's ttl is too long", { ttl: 720 * HOUR }, null, undefined, true],
    ['neither names one: 768 h by default', {}, null, undefined, true],
    ['the requested ttl is short enough', { ttl: 720 * HOUR }, '600h', undefined, false],
    ['the requested ttl is too long', { ttl: HOUR }, '701h', undefined, true],
    ['max_ttl cuts it', { ttl: 720 * HOUR, max_ttl: 600 * HOUR }, null, undefined, false],
    ['the role has an end of its own', { not_after: '1970-01-02T00:00:00Z' }, null, undefined, false],
    ['the issuer cuts it', { issuer_ref: 'old' }, null, { leaf_not_after_behavior: 'truncate' }, false],
    ['the issuer permits it', { issuer_ref: 'old' }, null, { leaf_not_after_behavior: 'permit' }, false],
    ['the issuer refuses it', { issuer_ref: 'old' }, null, { leaf_not_after_behavior: 'err' }, true],
  ];
  for (const [what, role, ttl, issuer, warns] of TABLE)
    test(`${what}: ${warns ? 'a warning' : 'none'}`, async () => {
      const client = fakeClient(issuer === undefined ? {} : { 'pki/issuer/old': { data: issuer } });
      const given = { mount: 'pki', role, ttl, caEndsMs, now: () => 0 };
      const warnings = await warnOfShortCa(client, given);
      assert.equal(warnings.length, warns ? 1 : 0);
      if (warns) assert.match(warnings[0], /expires in .*: by default, Vault refuses .* Use a shorter --ttl/);
    });
});

describe('any response to the preflight gives a verdict or a refusal with a code', () => {
  const health = { initialized: true, sealed: false, standby: false, version: '1.21.1', enterprise: false };
  let certificate = '';
  before(async () => {
    const server = await createDevServer({ caKeyType: 'ec' });
    certificate = server.caPem;
    await server.close();
  });
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  const values = [undefined, null, -1, 1e300, 'x', '\u001b[31m', true, [], [null], {}, { a: 1 }, deep];

  const answersOf = () => ({
    'auth/token/lookup-self': {
      data: {
        ttl: 60,
        renewable: true,
        num_uses: 0,
        expire_time: 'x',
        creation_time: 1,
        explicit_max_ttl: 1e10,
      },
    },
    'sys/internal/ui/mounts/pki': { data: { type: 'pki', path: 'pki/', config: { max_lease_ttl: 5 } } },
    'sys/internal/ui/mounts': { data: { secret: { 'pki/': { type: 'pki' } } } },
    'pki/cert/ca': { data: { certificate } },
    'pki/roles': { data: { keys: ['r'] } },
    'pki/roles/r': {
      data: {
        allowed_domains: ['b.test'],
        allow_glob_domains: true,
        allow_subdomains: true,
        enforce_hostnames: true,
        cn_validations: ['email'],
        key_type: 'rsa',
        key_bits: 2048,
        max_ttl: 60,
        require_cn: true,
        no_store: false,
        generate_lease: true,
      },
    },
    'sys/capabilities-self': { data: { 'pki/sign/r': ['update'] } },
  });

  /** @param {any} value @param {string[]} [path] @returns {string[][]} to every field */
  const fieldsOf = (value, path = []) =>
    Object.entries(value).flatMap(([key, inner]) => [
      [...path, key],
      ...(inner !== null && typeof inner === 'object' ? fieldsOf(inner, [...path, key]) : []),
    ]);

  /** @param {any} target @param {string[]} path @param {unknown} value */
  const replace = (target, path, value) => {
    const holder = path.slice(0, -1).reduce((inner, key) => inner[key], target);
    holder[path[path.length - 1]] = value;
    return target;
  };

  /** @param {any} answers @param {any} [json] */
  async function check(answers, json = health) {
    const context = /** @type {any} */ ({
      plan: { target: { url: 'http://v', mount: 'pki', namespace: null } },
      client: fakeClient(answers, { status: 200, json }),
      keepAlive: (/** @type {number} */ ms) => assert.ok(ms >= 3000),
      warn: (/** @type {string} */ text) => assert.doesNotMatch(text, /\p{Cc}/u),
    });
    const asked = { role: 'r', commonName: 'a.b.test', altNames: ['b.b.test'], ttl: '1h', keyBits: 2048 };
    try {
      const sign = /** @type {const} */ ({ operation: 'sign', keyType: 'rsa' });
      const use = { usesBefore: 10, usesInRun: false, neededMs: 1e6 };
      const { role, fixture } = await checkIssuance(context, { ...asked, ...sign, ...use });
      describeFootprint({ role, count: 1e6, health: fixture.health }).forEach(context.warn);
      return 'passed';
    } catch (error) {
      assert.ok(error instanceof PkiLoadError, String(/** @type {any} */ (error).stack));
      assert.doesNotMatch(error.full, /\p{Cc}/u);
      return error.code;
    }
  }

  test('every field of every response, with values of every type', async () => {
    assert.equal(await check(answersOf()), 'passed');
    for (const path of fieldsOf(answersOf())) {
      for (const value of values) await check(replace(answersOf(), path, value));
    }
  });

  test('a CA whose key is of an unknown type', async () => {
    const hex = new X509Certificate(certificate).raw.toString('hex');
    const odd = encodePem('CERTIFICATE', Buffer.from(hex.replace('2a8648ce3d0201', '2a8648ce3d027f'), 'hex'));
    assert.equal(
      await check(replace(answersOf(), ['pki/cert/ca', 'data', 'certificate'], odd)),
      'ca_unreadable',
    );
  });

  test('ocsp: leases and their token must outlast the run, also in further runs', async () => {
    const pki = new TestCa();
    /** @type {((load: any) => Promise<unknown>)[]} */
    const again = [];
    const find = (/** @type {number | null} */ leaseMs, /** @type {string} */ duration) => {
      const token = { ttl: 2000, renewable: false, num_uses: 0, expire_time: 'x' };
      const answers = replace(answersOf(), ['auth/token/lookup-self', 'data'], token);
      const client = fakeClient(answers, { status: 200, json: health });
      const write = async (/** @type {string} */ path) =>
        path === 'pki/issue/r'
          ? { data: { ...issuedBy(pki), expiration: Date.now() / 1000 + 7200 }, leaseMs }
          : client.write(path);
      const plan = planOf(ocsp, { role: 'r', cn: 'a.b.test', about: ['good=1'], pool: 1, rate: 1, duration });
      return findSubjects(
        /** @type {any} */ ({
          plan: { ...plan, target: { ...plan.target, mount: 'pki' } },
          client: { ...client, write },
          signal: new AbortController().signal,
          beforeAgain: (/** @type {any} */ check) => again.push(check),
          ...{ keepAlive() {}, warn() {}, notice() {}, progress() {} },
        }),
      );
    };
    await find(null, '2h');
    assert.equal(again.length, 0);
    await assert.rejects(find(7_200_000, '2h'), { code: 'token_expires' });
    await assert.rejects(find(45_000, '1m'), { code: 'lease_expires' });
    assert.equal((await find(7_200_000, '1m')).hasLeases, true);
    const { load } = planOf(ocsp, { rate: 1, duration: '2h' });
    await assert.rejects(again[0](load), { code: 'token_expires' });
  });

  test('ocsp --about: an issuer that changes while its certificates are issued ends the run', async () => {
    const client = fakeClient(answersOf(), { status: 200, json: health });
    const [one, other] = [new TestCa(), new TestCa()].map((pki) => () => issuedBy(pki));
    const find = (/** @type {typeof one[]} */ responses) => {
      const write = async (/** @type {string} */ path) =>
        path === 'pki/issue/r' ? { data: responses.shift()?.() } : client.write(path);
      const plan = planOf(ocsp, { role: 'r', cn: 'a.b.test', about: ['good=1'], pool: 3, requests: 3 });
      return findSubjects(
        /** @type {any} */ ({
          plan: { ...plan, target: { ...plan.target, mount: 'pki' } },
          client: { ...client, write },
          signal: new AbortController().signal,
          ...{ keepAlive() {}, beforeAgain() {}, warn() {}, notice() {}, progress() {} },
        }),
      );
    };
    assert.equal((await find([one, one, one])).good.length, 3);
    await assert.rejects(find([one, one, other]), {
      ...{ code: 'several_issuers', exitCode: 2 },
      message: /^The issuer of pki changed while/,
    });
  });

  test('a pool of certificates keeps only the strings that it needs, and rejects long ones', async () => {
    const pki = new TestCa();
    const issued = issuedBy(pki);
    const issueAll = (/** @type {object} */ changes, mustStore = true) => {
      const client = fakeClient(answersOf(), { status: 200, json: health });
      const write = async (/** @type {string} */ path) =>
        path === 'pki/issue/r' ? { data: { ...issuedBy(pki), ...changes } } : client.write(path);
      const context = /** @type {any} */ ({
        plan: { ...planOf(revoke, { role: 'r', cn: 'a.b.test', requests: 3 }), dev: false },
        client: { ...client, write },
        signal: new AbortController().signal,
        ...{ keepAlive() {}, beforeAgain() {}, warn() {}, notice() {}, progress() {} },
      });
      context.plan.target = { ...context.plan.target, mount: 'pki' };
      const pool = { size: 3, label: 'Issuing', subject: 'certificates', revokes: true, mustStore };
      return issueBefore(context, { ...pool, usesInRun: false, neededMs: 1000 });
    };
    const lengthsOf = async (/** @type {boolean} */ mustStore) =>
      (await issueAll({}, mustStore)).issued.map((one) => one.certificate !== '');
    assert.deepEqual(await lengthsOf(true), [true, false, false]);
    assert.deepEqual(await lengthsOf(false), [true, true, true]);
    assert.deepEqual([...(await issueAll({})).issuers], [pki.ca.pem]);
    for (const name of Object.keys(issued))
      await assert.rejects(issueAll({ [name]: 'x'.repeat(1_000_000) }), { code: 'not_issued' });
    await assert.rejects(issueAll(issued), {
      ...{ code: 'not_issued', message: /: An earlier one has the same serial number\.$/ },
    });
    const bad = {
      serial_number: '01',
      certificate: issued.certificate.replace('MII', 'M-II'),
      issuing_ca: certificate,
    };
    for (const [name, value] of Object.entries(bad))
      await assert.rejects(issueAll({ [name]: value }), {
        ...{ code: 'not_issued', exitCode: 2 },
        message:
          /^The response of https:\/\/vault\.test:8200 to issue\/r is not the requested certificate: The /,
      });
  });

  test('a CA certificate that has expired, has no valid time, or is none', async () => {
    const ca = new TestCa({ name: 'CA' });
    const fine = ca.issue('fine', { extensions: [EXTENSIONS.ca] });
    const end = new Date(parseCertificate(fine.der).notAfter).toISOString().replace(/\..*|\D/g, '');
    const timeless = Buffer.from(fine.der);
    timeless.write('x', timeless.indexOf(end));
    for (const [der, code] of /** @type {const} */ ([
      [fine.der, 'passed'],
      [ca.issue('', { extensions: [EXTENSIONS.ca] }).der, 'passed'],
      [ca.issue('past', { extensions: [EXTENSIONS.ca], inDays: -2, days: -1 }).der, 'ca_expired'],
      [timeless, 'ca_unreadable'],
      [ca.issue('leaf').der, 'not_a_ca'],
    ])) {
      const pem = encodePem('CERTIFICATE', der);
      assert.equal(await check(replace(answersOf(), ['pki/cert/ca', 'data', 'certificate'], pem)), code);
    }
  });

  test('every field of sys/health', async () => {
    for (const key of [
      ...Object.keys(health),
      'performance_standby',
      'replication_dr_mode',
      'cluster_name',
    ]) {
      for (const value of values) await check(answersOf(), { ...health, [key]: value });
    }
    for (const value of values) await check(answersOf(), value);
  });
});

describe('checkMount', () => {
  test('a mount that the token cannot see, on a server that denies everything', async () => {
    const client = fakeClient({});
    await assert.rejects(checkMount(client, 'pki_int'), {
      code: 'mount_not_found',
      remedy: /vault secrets enable/,
    });
  });

  test('the path of another mount with the same prefix', async () => {
    const client = fakeClient({ 'sys/internal/ui/mounts/pki/a': { data: { type: 'pki', path: 'pki/' } } });
    await assert.rejects(checkMount(client, 'pki/a'), { code: 'mount_not_found' });
  });
});

describe('checkRole', () => {
  test('shows no token that the role repeats, even one with a comma', async () => {
    redactToken('abcdefg,hijklmn,opqrstu');
    const data = { allowed_domains: 'abcdefg,hijklmn,opqrstu,b.test' };
    const asked = checkRole(fakeClient({ 'pki/roles/r': { data } }), {
      mount: 'pki',
      role: 'r',
      commonName: 'x.y',
    });
    await assert.rejects(asked, {
      code: 'name_not_allowed',
      message: /allowed_domains <redacted>,b\.test with/,
    });
  });

  test('a role without settings cannot be read', async () => {
    const asked = checkRole(fakeClient({ 'pki/roles/r': {} }), {
      mount: 'pki',
      role: 'r',
      commonName: 'x.y',
    });
    await assert.rejects(asked, {
      code: 'role_unreadable',
      exitCode: 2,
      message: 'The settings of the role r cannot be read: the response of https://vault.test:8200 has none.',
    });
  });

  const role = {
    allowed_domains: ['example.com'],
    allow_subdomains: true,
    key_type: 'rsa',
    key_bits: 2048,
    max_ttl: 3600,
  };
  const client = fakeClient({ 'pki_int/roles/r': { data: role } });
  const roleRequest = { mount: 'pki_int', role: 'r', commonName: 'a.example.com' };

  test('what the role allows', async () => {
    assert.deepEqual((await checkRole(client, roleRequest)).warnings, []);
  });

  test('warns of a TTL above max_ttl, which Vault shortens', async () => {
    assert.match(
      (await checkRole(client, { ...roleRequest, ttl: '2h' })).warnings[0],
      /2 h to its max_ttl, 1 h/,
    );
  });

  test('checks every name', async () => {
    await assert.rejects(checkRole(client, { ...roleRequest, altNames: ['b.example.com', 'c.org'] }), {
      code: 'name_not_allowed',
      message: /"c\.org"/,
    });
  });

  /** @type {[object, string | null][]} */
  const keys = [
    [{ operation: 'sign', keyType: 'rsa', keyBits: 2048 }, null],
    [{ operation: 'sign', keyType: 'rsa', keyBits: 4096 }, null],
    [{ operation: 'sign', keyType: 'rsa', keyBits: 1024 }, 'role_key_type'],
    [{ operation: 'sign', keyType: 'ec', keyBits: 256 }, 'role_key_type'],
    [{ operation: 'issue', keyType: 'ec', keyBits: 256 }, null],
  ];
  for (const [more, code] of keys) {
    test(`${JSON.stringify(more)}: ${code ?? 'allowed'}`, async () => {
      const asked = checkRole(client, { ...roleRequest, ...more });
      if (code === null) assert.deepEqual((await asked).warnings, []);
      else await assert.rejects(asked, { code });
    });
  }
});

test('a role for keys of any type issues none', async () => {
  const client = fakeClient({ 'pki/roles/r': { data: { allow_any_name: true, key_type: 'any' } } });
  const request = /** @type {const} */ ({ mount: 'pki', role: 'r', commonName: 'a.b' });
  await assert.rejects(checkRole(client, { ...request, operation: 'issue' }), {
    code: 'role_key_type',
    message: 'The role r has key_type any, for which Vault signs CSRs but issues no keys.',
    remedy: 'Use another --role.',
  });
  assert.deepEqual((await checkRole(client, { ...request, operation: 'sign' })).warnings, []);
});

test('a type of key that is long is cut in messages', async () => {
  const long = 'x'.repeat(90_000);
  const client = fakeClient({ 'pki/roles/r': { data: { allow_any_name: true, key_type: long } } });
  const request = /** @type {const} */ ({ mount: 'pki', role: 'r', commonName: 'a.b', operation: 'sign' });
  const isShort = (/** @type {PkiLoadError} */ { message }) =>
    message.includes('xxx') && message.length < 500;
  await assert.rejects(checkRole(client, { ...request, keyType: 'ec', keyBits: 256 }), isShort);
});

describe('describeFootprint', () => {
  const health = { product: 'Vault', version: '1.21.1+ent', enterprise: true };
  /** @type {[string, Parameters<typeof describeFootprint>[0], RegExp, RegExp?][]} what, input, says, does not say */
  const table = [
    [
      'stored',
      { role: {}, count: 1000 },
      /leaves about 1,000 certificates.*tidy/,
      /health check|lease|licence/,
    ],
    ['not stored', { role: { no_store: true }, count: 1e6 }, /nothing is left behind/, /tidy|health check/],
    ['unknown role', { role: null, count: 10 }, /may leave about 10/],
    ['unknown number', { role: {}, count: null }, /as many certificates as it can issue/],
    ['many', { role: {}, count: 50_000 }, /50,000 stored certificates as a warning/],
    ['very many', { role: {}, count: 250_000 }, /250,000 stored certificates as critical/],
    ['leases', { role: { generate_lease: true, no_store: true }, count: 1 }, /generate_lease=false/],
    [
      'licence',
      { role: { no_store: true }, count: 7, health },
      /counts the 7 certificates towards its licence/,
    ],
    [
      'no licence before 1.21',
      { role: {}, count: 7, health: { ...health, version: '1.20.4+ent' } },
      /7/,
      /licence/,
    ],
    [
      'no licence in the Community Edition',
      { role: {}, count: 7, health: { ...health, enterprise: false } },
      /7/,
      /licence/,
    ],
  ];
  for (const [what, given, says, not] of table) {
    test(what, () => {
      const text = describeFootprint(given).join(' ');
      assert.match(text, says);
      if (not) assert.doesNotMatch(text, not);
    });
  }
});

/** @param {TestCa} pki @returns a response of issue, with another certificate each time */
function issuedBy(pki) {
  const leaf = pki.issue('a.b.test', { extensions: [altNames({ dns: ['a.b.test'] })] });
  return { serial_number: serialHex(leaf.serial), certificate: leaf.pem, issuing_ca: pki.ca.pem };
}

describe('checkIssuer: a mount without a default issuer', () => {
  const none = { status: 400, errors: ['no default issuer currently configured'] };
  const create = /vault write pki\/root\/generate/;
  const choose = /vault write pki\/config\/issuers default=ISSUER/;
  /** @type {[what: string, issuers: {}, code: string, remedies: RegExp[], isNot: RegExp[]][]} */
  const table = [
    ['has no other', { data: { keys: [] } }, 'mount_without_ca', [create], [choose]],
    ['has another', { data: { keys: ['a'] } }, 'no_default_issuer', [choose], [create]],
    ['may have another', { status: 403 }, 'no_default_issuer', [choose, create], []],
  ];
  for (const [what, issuers, code, remedies, isNot] of table)
    test(what, async () => {
      const client = fakeClient({ 'pki/cert/ca': none, 'pki/issuers': issuers });
      await assert.rejects(checkIssuer(client, 'pki'), (/** @type {PkiLoadError} */ error) => {
        assert.equal(error.code, code);
        for (const one of remedies) assert.match(error.remedy ?? '', one);
        for (const one of isNot) assert.doesNotMatch(error.remedy ?? '', one);
        return true;
      });
    });
});

describe('checkIssuer: the issuer that a role names', () => {
  const role = { issuer_ref: 'two' };
  const unknown = 'unable to find PKI issuer for reference: two';
  /** @type {[what: string, answer: {status: number, errors?: string[]}, code: string][]} */
  const table = [
    ['is unknown', { status: 500, errors: [unknown] }, 'issuer_not_found'],
    ['is not found', { status: 404 }, 'issuer_not_found'],
    ['may exist behind a proxy that fails', { status: 502 }, 'vault_internal_error'],
  ];
  for (const [what, answer, code] of table)
    test(what, async () => {
      const client = fakeClient({ 'pki/issuer/two/json': answer });
      await assert.rejects(checkIssuer(client, 'pki', { role }), { code });
    });

  for (const [what, name] of [
    ['is too long', 'x'.repeat(201)],
    ['is a path', '../../sys'],
    ['is a path below it', 'a/b'],
    ['is not printable', 'a\nb'],
    ['is a token', `hvs.${'A'.repeat(24)}/`],
  ])
    test(`${what}: no request, and a short message without secrets`, async () => {
      const client = { ...fakeClient({}), read: () => assert.fail('a request') };
      const asked = checkIssuer(client, 'pki', { role: { issuer_ref: name } });
      await assert.rejects(asked, (/** @type {PkiLoadError} */ { code, exitCode, message, remedy }) => {
        assert.deepEqual([code, exitCode], ['bad_issuer_ref', 2]);
        assert.match(message, /^The issuer_ref of the role is "/);
        assert.ok(message.length < 200 && !message.includes('A'.repeat(24)), message);
        assert.match(remedy ?? '', /issuer_ref/);
        return true;
      });
    });

  test('may have any name that Vault allows', async (t) => {
    const pki = new TestCa({ name: 'CA' });
    t.after(() => pki.close());
    const name = `a-b.c_${'d'.repeat(194)}`;
    const client = fakeClient({ [`pki/issuer/${name}/json`]: { data: { certificate: pki.ca.pem } } });
    assert.match((await checkIssuer(client, 'pki', { role: { issuer_ref: name } })).subject, /CN=/);
  });
});
