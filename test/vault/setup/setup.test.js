/** `setup` on a fake Vault: objects that it creates, keeps and refuses, and leftovers when any call fails. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError, targetError } from '../../../src/common/errors.js';
import { setUp } from '../../../src/vault/setup/setup.js';
import { planSetup, readSetupOptions } from '../../../src/vault/setup/setup-plan.js';
import { tearDown } from '../../../src/vault/setup/teardown.js';
import { fakeVault } from './fake-vault.js';

/** @import { Item, SetupReport } from '../../../src/vault/setup/setup.js' */
/** @import { TeardownReport } from '../../../src/vault/setup/teardown.js' */

const ALL = planSetup({ with: ['kv', 'transit', 'approle'] });
const MARK = 'made by vault-pki-load setup (vault-pki-load)';
const silent = () => {};

/** Removes the mounts of killed runs, too. @param {Parameters<typeof tearDown>} args */
async function takeAway(...[client, name, say]) {
  /** @type {TeardownReport} */
  const report = { removed: [], remaining: [] };
  await tearDown(client, name, say, report, true);
  return report;
}

/** @param {{method: string, path: string}[]} calls that change something */
const changes = (calls) =>
  calls.filter(({ method, path }) => ['POST', 'DELETE'].includes(method) && path !== 'sys/capabilities-self');

describe('setup', () => {
  test('creates and reports marked mounts, two CAs, roles, a key, an AppRole role and the policy', async () => {
    const vault = fakeVault();
    /** @type {string[]} */
    const said = [];
    const { created, existing } = await setUp(vault.client, ALL, (text) => said.push(text));
    const kinds = existing.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['crl']);
    assert.deepEqual(
      created.map(({ kind, path }) => `${kind} ${path}`),
      [
        'mount vault-pki-load-root',
        'mount vault-pki-load-int',
        'mount vault-pki-load-kv',
        'mount vault-pki-load-transit',
        'auth auth/vault-pki-load-approle',
        'urls vault-pki-load-root/config/urls',
        'urls vault-pki-load-int/config/urls',
        'ca vault-pki-load-root',
        'ca vault-pki-load-int',
        'role vault-pki-load-int/roles/example-dot-com',
        'role vault-pki-load-int/roles/example-dot-com-ec',
        'role vault-pki-load-int/roles/example-dot-com-ec-no-store',
        'role vault-pki-load-int/roles/example-dot-com-ed25519',
        'key vault-pki-load-transit/keys/load',
        'role auth/vault-pki-load-approle/role/load',
        'policy vault-pki-load',
      ],
    );
    assert.equal(said.length, created.length);
    for (const path of ['root', 'int', 'kv', 'transit']) {
      assert.equal(vault.mounted.mounts.get(`vault-pki-load-${path}`)?.description, MARK);
    }
    assert.equal(vault.mounted.auth.get('vault-pki-load-approle')?.description, MARK);
    assert.match(
      String(vault.policies.get('vault-pki-load')),
      /^# made by vault-pki-load setup \(vault-pki-load\)\n/,
    );
  });

  test('changes nothing when repeated', async () => {
    const vault = fakeVault();
    await setUp(vault.client, ALL, silent);
    const [before, asked] = [vault.state(), vault.calls.length];
    const { created, existing } = await setUp(vault.client, ALL, () => assert.fail('nothing is made'));
    assert.deepEqual(created, []);
    assert.equal(existing.length, 17);
    assert.deepEqual(vault.state(), before);
    assert.deepEqual(changes(vault.calls.slice(asked)), []);
  });

  test('adds another engine; keeps an existing one and its part of the policy', async () => {
    const vault = fakeVault();
    await setUp(vault.client, planSetup({ with: ['kv'] }), silent);
    const { created } = await setUp(vault.client, planSetup({ with: ['transit'] }), silent);
    const paths = created.map(({ path }) => path);
    assert.deepEqual(paths, ['vault-pki-load-transit', 'vault-pki-load-transit/keys/load', 'vault-pki-load']);
    assert.match(
      String(vault.policies.get('vault-pki-load')),
      /vault-pki-load-kv\/\*[\s\S]*vault-pki-load-transit\/encrypt/,
    );
  });

  test('changes auto_rebuild only on request', async () => {
    const vault = fakeVault();
    const crl = () => vault.mounted.mounts.get('vault-pki-load-int')?.writes.get('config/crl');
    await setUp(vault.client, planSetup(), silent);
    assert.equal(crl(), undefined);
    await setUp(vault.client, planSetup({ autoRebuild: true }), silent);
    assert.deepEqual(crl(), { auto_rebuild: true });
    await setUp(vault.client, planSetup(), silent);
    await setUp(vault.client, planSetup(readSetupOptions({ with: 'kv' })), silent);
    assert.deepEqual(crl(), { auto_rebuild: true });
    await setUp(vault.client, planSetup(readSetupOptions({ 'auto-rebuild': 'false' })), silent);
    assert.deepEqual(crl(), { auto_rebuild: false });
  });

  test('accepts an existing CA of any key type if none is requested; creates missing parts with the same type', async () => {
    /** @type {[string, (vault: ReturnType<typeof fakeVault>) => void, string[]][]} */
    const cases = [
      ['nothing is missing', () => {}, []],
      ['no intermediate', (v) => void v.mounted.mounts.delete('vault-pki-load-int'), ['ca ec']],
      [
        'no CA in the root',
        (v) => void v.mounted.mounts.get('vault-pki-load-root')?.writes.delete('ca'),
        ['ca ec'],
      ],
    ];
    for (const [what, lose, expected] of cases) {
      const vault = fakeVault();
      await setUp(vault.client, planSetup({ caKeyType: 'ec' }), silent);
      lose(vault);
      const { created, existing } = await setUp(vault.client, planSetup(), silent);
      const authorities = (/** @type {Item[]} */ items) =>
        items.filter(({ kind }) => kind === 'ca').map(({ kind, type }) => `${kind} ${type}`);
      assert.deepEqual(authorities(created), expected, what);
      assert.deepEqual([...authorities(created), ...authorities(existing)], ['ca ec', 'ca ec'], what);
      for (const mount of ['root', 'int'])
        assert.equal(vault.mounted.mounts.get(`vault-pki-load-${mount}`)?.writes.get('ca'), 'ec', what);
    }
    const vault = fakeVault();
    await setUp(vault.client, planSetup(), silent);
    assert.equal(vault.mounted.mounts.get('vault-pki-load-int')?.writes.get('ca'), 'rsa', 'of a new one');
    /** @type {[object, 'rsa' | 'ec' | null][]} */
    const given = [
      [{}, null],
      [{ 'ca-key-type': 'rsa' }, 'rsa'],
      [{ caKeyType: 'ec' }, 'ec'],
    ];
    for (const [options, caKeyType] of given)
      assert.equal(readSetupOptions({ ...options }).caKeyType, caKeyType);
  });

  for (const isAuto of [true, false]) {
    test(`keepsSettings: refuses to change auto_rebuild from ${isAuto}`, async () => {
      const vault = fakeVault();
      const plan = (/** @type {boolean | null} */ autoRebuild) =>
        planSetup({ autoRebuild, with: ['kv'], keepsSettings: true });
      await setUp(vault.client, planSetup({ autoRebuild: isAuto }), silent);
      const before = vault.state();
      await assert.rejects(setUp(vault.client, plan(!isAuto), silent), {
        code: 'auto_rebuild_differs',
        message: isAuto
          ? /^vault-pki-load-int already exists and rebuilds its CRLs periodically .* but auto-rebuild is false\.$/
          : /^vault-pki-load-int already exists and rebuilds its CRLs on every revocation, but auto-rebuild is true\.$/,
        remedy: isAuto
          ? /^Nothing was changed\. .*setup --name vault-pki-load --auto-rebuild=false first\.$/
          : /^Nothing was changed\. .*setup --name vault-pki-load --auto-rebuild first\.$/,
      });
      assert.deepEqual(vault.state(), before);
      await setUp(vault.client, plan(isAuto), silent);
      await setUp(vault.client, plan(null), silent);
      const crl = vault.mounted.mounts.get('vault-pki-load-int')?.writes.get('config/crl');
      assert.equal(Boolean(crl?.auto_rebuild), isAuto);
    });
  }

  test('URLs in certificates contain the namespace', async () => {
    const vault = fakeVault({ namespace: 'team/a/' });
    await setUp(vault.client, planSetup(), silent);
    const urls = vault.mounted.mounts.get('vault-pki-load-int')?.writes.get('config/urls');
    assert.equal(urls.ocsp_servers, 'http://vault.test:8200/v1/team/a/vault-pki-load-int/ocsp');
  });

  test('a Unix socket stands in no certificate', async () => {
    const vault = fakeVault();
    await setUp({ ...vault.client, origin: 'unix:///run/vault.sock' }, planSetup(), silent);
    const { writes } = vault.mounted.mounts.get('vault-pki-load-int') ?? assert.fail('it is not mounted');
    assert.deepEqual([writes.has('config/urls'), writes.size > 0], [false, true]);
  });
});

/** @type {[string, (vault: ReturnType<typeof fakeVault>) => void, RegExp][]} */
const REFUSED = [
  [
    'a mount of the same name',
    (v) => v.own('mounts', 'vault-pki-load-int', 'pki'),
    /There is already a mount vault-pki-load-int \(pki\), not created by setup --name vault-pki-load\./,
  ],
  [
    'the last mount only',
    (v) => v.own('mounts', 'vault-pki-load-transit', 'transit', 'ours'),
    /a mount vault-pki-load-transit \(transit\)/,
  ],
  [
    'an auth method',
    (v) => v.own('auth', 'vault-pki-load-approle', 'approle'),
    /a mount auth\/vault-pki-load-approle \(approle\)/,
  ],
  [
    'our mark, another type',
    (v) => v.own('mounts', 'vault-pki-load-int', 'kv', MARK),
    /vault-pki-load-int \(kv\)/,
  ],
  [
    'the mark of a setup of another name',
    (v) => v.own('mounts', 'vault-pki-load-int', 'pki', 'made by vault-pki-load setup (vault-pki)'),
    /vault-pki-load-int/,
  ],
  [
    'a mount below one of its paths',
    (v) => v.own('mounts', 'vault-pki-load-int/foo', 'kv'),
    /vault-pki-load-int\/foo \(kv\)/,
  ],
  ['a policy', (v) => void v.policies.set('vault-pki-load', 'path "x" {}'), /a policy vault-pki-load, not/],
  [
    'a policy with the mark elsewhere',
    (v) => void v.policies.set('vault-pki-load', `# not\n# ${MARK}\n`),
    /a policy vault-pki-load/,
  ],
  [
    'an engine that this setup does not request',
    (v) => v.own('mounts', 'vault-pki-load-kv', 'kv'),
    /vault-pki-load-kv \(kv\)/,
  ],
];

describe("rejects another user's objects, and changes nothing:", () => {
  for (const [what, prepare, message] of REFUSED) {
    test(what, async () => {
      const vault = fakeVault();
      prepare(vault);
      const before = vault.state();
      const plan = planSetup({ with: what.startsWith('an engine') ? [] : ['kv', 'transit', 'approle'] });
      await assert.rejects(setUp(vault.client, plan, silent), { code: 'not_ours', message });
      assert.deepEqual(vault.state(), before);
      assert.deepEqual(changes(vault.calls), []);
    });
  }

  test('a CA with a key of another type', async () => {
    const vault = fakeVault();
    await setUp(vault.client, planSetup(), silent);
    const before = vault.state();
    await assert.rejects(setUp(vault.client, planSetup({ caKeyType: 'ec', with: ['kv'] }), silent), {
      code: 'ca_key_type_differs',
      message: /vault-pki-load-root already has a CA with a key of type rsa, but --ca-key-type is ec/,
      remedy: /Leave --ca-key-type out, run vault-pki-load teardown --name vault-pki-load first/,
    });
    assert.deepEqual(vault.state(), before);
  });
});

describe('refusals in a scenario name no flags of setup:', () => {
  const plan = planSetup({ caKeyType: 'ec', keepsSettings: true });

  test("another user's objects", async () => {
    const vault = fakeVault();
    vault.own('mounts', 'vault-pki-load-int', 'pki');
    const remedy = 'Nothing was changed. Choose another name, setup: {name: ...}.';
    await assert.rejects(setUp(vault.client, plan, silent), { code: 'not_ours', remedy });
    await assert.rejects(setUp(vault.client, { ...plan, keepsSettings: false }, silent), {
      remedy: 'Nothing was changed. Choose another name with --name.',
    });
  });

  test('a CA with a key of another type', async () => {
    const vault = fakeVault();
    await setUp(vault.client, planSetup(), silent);
    await assert.rejects(setUp(vault.client, plan, silent), {
      code: 'ca_key_type_differs',
      message: 'vault-pki-load-root already has a CA with a key of type rsa, but setup.ca-key-type is ec.',
      remedy:
        'Nothing was changed. Leave setup.ca-key-type out, run vault-pki-load teardown --name vault-pki-load first, or choose another name, setup: {name: ...}.',
    });
  });
});

describe('a node that is not active', () => {
  test('is accepted if it is a standby, which forwards requests', async () => {
    for (const standby of [{ standby: true }, { standby: true, performance_standby: true }]) {
      const vault = fakeVault();
      const empty = vault.state();
      Object.assign(vault.health, standby);
      assert.equal((await setUp(vault.client, ALL, silent)).created.length, 16);
      assert.equal(await tearDown(vault.client, 'vault-pki-load', silent), true);
      assert.deepEqual(vault.state(), empty);
    }
  });

  /** @type {[string, object, string][]} */
  const DUMB = [
    ['is sealed', { sealed: true, standby: true }, 'vault_sealed'],
    ['is not initialised', { initialized: false, sealed: true, standby: true }, 'vault_uninitialised'],
    [
      'is a disaster-recovery secondary',
      { standby: true, replication_dr_mode: 'secondary' },
      'vault_dr_secondary',
    ],
  ];
  for (const [what, health, code] of DUMB) {
    test(`is rejected if it ${what}`, async () => {
      const vault = fakeVault();
      Object.assign(vault.health, health);
      await assert.rejects(setUp(vault.client, ALL, silent), { code });
      await assert.rejects(tearDown(vault.client, 'vault-pki-load', silent), { code });
      assert.deepEqual(changes(vault.calls), []);
    });
  }
});

describe('lists all missing capabilities of a token before creating anything:', () => {
  test('setup', async () => {
    const vault = fakeVault({
      can: (path) =>
        path === 'sys/auth/vault-pki-load-approle'
          ? ['update']
          : path.includes('/roles')
            ? ['deny']
            : ['create', 'read', 'update', 'list'],
    });
    await assert.rejects(setUp(vault.client, ALL, silent), {
      code: 'missing_capabilities',
      exitCode: 2,
      message:
        /The token lacks capabilities that setup needs: sudo on sys\/auth\/vault-pki-load-approle, list on vault-pki-load-int\/roles, update on vault-pki-load-int\/roles\/example-dot-com,/,
      remedy:
        /Nothing was changed\. .*path "sys\/auth\/vault-pki-load-approle" \{ capabilities = \["update","sudo"\] \}/,
    });
    assert.deepEqual(changes(vault.calls), []);
  });

  test('teardown', async () => {
    const able = { now: ['root'] };
    const vault = fakeVault({ can: () => able.now });
    await setUp(vault.client, ALL, silent);
    able.now = ['read', 'delete'];
    const before = vault.state();
    await assert.rejects(tearDown(vault.client, 'vault-pki-load', silent), {
      message: /teardown needs: sudo on sys\/auth\/vault-pki-load-approle\.$/,
    });
    assert.deepEqual(vault.state(), before);
  });
});

describe('whichever call of setup fails, a second setup completes it, and teardown leaves nothing:', () => {
  for (const when of /** @type {const} */ (['before', 'after'])) {
    test(`${when} it took effect`, async () => {
      const reference = fakeVault();
      const empty = reference.state();
      await setUp(reference.client, ALL, silent);
      const whole = reference.state();
      const count = reference.calls.length;
      assert.ok(count > 30);
      for (let at = 1; at <= count; at++) {
        const vault = fakeVault();
        Object.assign(vault.fault, { at, when });
        /** @type {SetupReport} */
        const report = { created: [], existing: [] };
        await assert.rejects(setUp(vault.client, ALL, silent, report), (/** @type {any} */ error) => {
          assert.match(error.message, /^failed at /);
          assert.equal(error.remedy, 'Mend it.', 'what becomes of it is for the caller to say');
          return true;
        });
        const half = fakeVaultFrom(vault);
        assert.equal(await tearDown(half.client, 'vault-pki-load', silent), true);
        assert.deepEqual(half.state(), empty, `after a failure at call ${at}`);
        await setUp(vault.client, ALL, silent);
        assert.deepEqual(shape(vault.state()), shape(whole), `completed after a failure at call ${at}`);
        assert.equal(await tearDown(vault.client, 'vault-pki-load', silent), true);
        assert.deepEqual(vault.state(), empty);
      }
    });
  }
});

describe('a mount whose response is missing', () => {
  /** @type {[string, PkiLoadError, boolean][]} */
  const ERRORS = [
    ['may exist', targetError('connection_lost', 'cut off'), true],
    ['may exist if Vault failed', targetError('vault_internal_error', 'HTTP 500'), true],
    ['does not exist if refused', targetError('vault_bad_request', 'path is already in use'), false],
  ];
  for (const [what, error, isThere] of ERRORS) {
    test(what, async () => {
      const { client } = fakeVault();
      const failing = {
        ...client,
        write: async (/** @type {string} */ path, /** @type {any} */ data) => {
          if (path.startsWith('sys/mounts/')) throw error;
          return client.write(path, data);
        },
      };
      /** @type {SetupReport} */
      const report = { created: [], existing: [] };
      await assert.rejects(setUp(failing, ALL, silent, report), { code: error.code });
      const item = { kind: 'mount', path: 'vault-pki-load-root', type: 'pki', uncertain: true };
      assert.deepEqual(report.created, isThere ? [item] : []);
    });
  }

  test('may exist while the call is in flight, too', async () => {
    const { client } = fakeVault();
    /** @type {SetupReport} */
    const report = { created: [], existing: [] };
    /** @type {boolean[]} */
    const uncertain = [];
    const watching = {
      ...client,
      write: async (/** @type {string} */ path, /** @type {any} */ data) => {
        if (/^sys\/(?:mounts|auth)\//.test(path)) uncertain.push(report.created.at(-1)?.uncertain ?? false);
        return client.write(path, data);
      },
    };
    await setUp(watching, ALL, silent, report);
    assert.deepEqual(uncertain, [true, true, true, true, true]);
    assert.ok(report.created.every((item) => item.uncertain === undefined));
  });
});

describe('any response to setup and teardown ends in success or a refusal with a code:', () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  const values = [undefined, null, -1, 'x', '\u001b[31m', true, [null], {}, { a: 1 }, deep];
  const name = 'vault-pki-load';
  /** @type {[string, string[]][]} path, fields */
  const FIELDS = [
    ['sys/mounts', [`${name}-int/`, `${name}-int/ type`, `${name}-int/ description`]],
    ['sys/auth', [`${name}-approle/`, `${name}-approle/ type`, `${name}-approle/ description`]],
    [`sys/policies/acl/${name}`, ['policy']],
    [`${name}-int/config/issuers`, ['default']],
    [`${name}-int/cert/ca`, ['certificate']],
    [`${name}-int/config/urls`, ['ocsp_servers']],
    [`${name}-int/config/crl`, ['auto_rebuild']],
    ['sys/capabilities-self', [`sys/policies/acl/${name}`]],
  ];
  for (const [path, fields] of FIELDS) {
    test(path, async () => {
      for (const field of ['', ...fields]) {
        for (const value of values) await answerWith(path, field, value);
      }
    });
  }

  /** @param {string} path @param {string} field empty: all @param {any} value */
  async function answerWith(path, field, value) {
    const vault = fakeVault();
    await setUp(vault.client, ALL, silent);
    const change = (/** @type {any} */ answer) => {
      // The client itself refuses data of other types.
      if (field === '')
        return { ...answer, data: value !== null && typeof value === 'object' ? value : null };
      const [first, second] = field.split(' ');
      const inner = second === undefined ? value : { ...answer.data?.[first], [second]: value };
      return { ...answer, data: { ...answer.data, [first]: inner } };
    };
    const { client } = vault;
    const changed = {
      ...client,
      read: async (/** @type {string} */ at) =>
        at === path ? change(await client.read(at)) : client.read(at),
      write: async (/** @type {string} */ at, /** @type {any} */ data) =>
        at === path ? change(await client.write(at, data)) : client.write(at, data),
    };
    const say = (/** @type {string} */ text) => assert.doesNotMatch(text, /\p{Cc}/u);
    for (const run of [() => setUp(changed, ALL, say), () => takeAway(changed, name, say)]) {
      await run().catch((/** @type {any} */ error) => {
        assert.ok(error instanceof PkiLoadError, `${path} ${field}: ${error.stack}`);
        assert.doesNotMatch(error.full, /\p{Cc}/u);
      });
    }
  }
});

describe('teardown', () => {
  /** @param {TeardownReport} report */
  const paths = ({ removed, remaining }) => ({
    gone: removed.map(({ path }) => path),
    left: remaining.map(({ path }) => path),
  });

  test('keeps objects without the mark, and reports why', async () => {
    const vault = fakeVault();
    await setUp(vault.client, ALL, silent);
    Object.assign(vault.mounted.mounts.get('vault-pki-load-kv') ?? {}, { description: 'ours now' });
    vault.policies.set('vault-pki-load', 'path "x" {}');
    /** @type {string[]} */
    const said = [];
    const report = await takeAway(vault.client, 'vault-pki-load', (text) => said.push(text));
    assert.deepEqual(paths(report), {
      gone: [
        'auth/vault-pki-load-approle',
        'vault-pki-load-int',
        'vault-pki-load-transit',
        'vault-pki-load-root',
      ],
      left: ['vault-pki-load-kv', 'vault-pki-load'],
    });
    assert.match(said.join('\n'), /^Left vault-pki-load-kv \(kv\): it does not carry the mark of setup/m);
    assert.equal(await tearDown(vault.client, 'vault-pki-load', silent), false);
  });

  test('keeps moved mounts', async () => {
    const vault = fakeVault();
    vault.own('mounts', 'their-pki', 'pki', MARK);
    const report = await takeAway(vault.client, 'vault-pki-load', silent);
    assert.deepEqual(paths(report), { gone: [], left: ['their-pki'] });
    assert.ok(vault.mounted.mounts.has('their-pki'));
  });

  test('distinguishes setups with the same prefix', async () => {
    const vault = fakeVault();
    await setUp(vault.client, planSetup({ name: 'load' }), silent);
    const one = vault.state();
    await setUp(vault.client, planSetup({ name: 'load-int', with: ['kv'] }), silent);
    assert.equal(await tearDown(vault.client, 'load-int', silent), true);
    assert.deepEqual(vault.state(), one);
  });

  test('continues after a failed removal', async () => {
    const vault = fakeVault();
    await setUp(vault.client, ALL, silent);
    vault.fault.every = (call) => call === 'DELETE sys/mounts/vault-pki-load-int';
    const report = await takeAway(vault.client, 'vault-pki-load', silent);
    assert.deepEqual(paths(report).left, ['vault-pki-load-int']);
    assert.match(report.remaining[0].why, /could not be removed\. failed at DELETE .* Mend it\.$/);
    assert.equal(vault.policies.has('vault-pki-load'), false);
    vault.fault.every = () => false;
    assert.equal(await tearDown(vault.client, 'vault-pki-load', silent), true);
  });

  describe('leftovers of a killed run', () => {
    const own = 'made by vault-pki-load for a test; removed at its end';
    const prepare = () => {
      const vault = fakeVault();
      vault.own('auth', 'vault-pki-load-approle-00ff', 'approle', own);
      vault.own('mounts', 'vault-pki-load-kv-12ab', 'kv', own);
      vault.own('mounts', 'vault-pki-load-kv-theirs', 'kv', 'ours');
      vault.own('mounts', 'their-kv', 'kv', own);
      return vault;
    };

    test('are removed and reported, but not mounts without the mark or the name', async () => {
      const vault = prepare();
      await setUp(vault.client, ALL, silent);
      /** @type {string[]} */
      const said = [];
      const report = await takeAway(vault.client, 'vault-pki-load', (text) => said.push(text));
      assert.deepEqual(paths(report).left, []);
      assert.deepEqual(paths(report).gone.slice(-2), [
        'vault-pki-load-kv-12ab',
        'auth/vault-pki-load-approle-00ff',
      ]);
      assert.match(
        String(said.at(-1)),
        /^Removed auth\/vault-pki-load-approle-00ff \(approle\), which a run created and did not remove\.$/,
      );
      assert.deepEqual(
        [...vault.mounted.mounts.keys()],
        ['cubbyhole', 'vault-pki-load-kv-theirs', 'their-kv'],
      );
      assert.deepEqual([...vault.mounted.auth.keys()], ['token']);
    });

    test('that cannot be removed are reported, and the rest is removed', async () => {
      const vault = prepare();
      vault.fault.every = (call) => call === 'DELETE sys/mounts/vault-pki-load-kv-12ab';
      const report = await takeAway(vault.client, 'vault-pki-load', silent);
      assert.deepEqual(paths(report).left, ['vault-pki-load-kv-12ab']);
      assert.equal(vault.mounted.auth.has('vault-pki-load-approle-00ff'), false);
    });

    test('whose name is not UTF-8 stay: the request would reach another mount, or none', async () => {
      const vault = prepare();
      vault.own('mounts', 'vault-pki-load-prod\ufffd', 'kv', own);
      const report = await takeAway(vault.client, 'vault-pki-load', silent);
      assert.deepEqual(paths(report).left, ['vault-pki-load-prod\ufffd']);
      assert.match(report.remaining[0].why, /^its name is not valid UTF-8\./);
    });

    test('stay if a scenario removes its own setup: another run may use them', async () => {
      const vault = prepare();
      const before = vault.state();
      assert.equal(await tearDown(vault.client, 'vault-pki-load', silent), true);
      assert.deepEqual(vault.state(), before);
    });
  });

  test('does nothing without a setup', async () => {
    const vault = fakeVault();
    assert.equal(await tearDown(vault.client, 'vault-pki-load', () => assert.fail()), true);
    assert.deepEqual(changes(vault.calls), []);
  });
});

/** @param {ReturnType<typeof fakeVault>} vault @returns {ReturnType<typeof fakeVault>} another with the same in it */
function fakeVaultFrom(vault) {
  const copy = fakeVault();
  for (const kind of /** @type {const} */ (['mounts', 'auth'])) {
    copy.mounted[kind].clear();
    for (const [path, one] of vault.mounted[kind])
      copy.mounted[kind].set(path, { ...one, writes: new Map(one.writes) });
  }
  copy.policies.clear();
  for (const [name, text] of vault.policies) copy.policies.set(name, text);
  return copy;
}

/** @param {ReturnType<ReturnType<typeof fakeVault>['state']>} state @returns {unknown} in any order */
function shape({ mounts, auth, policies }) {
  const sorted = (/** @type {any[]} */ list) =>
    [...list]
      .map((one) =>
        JSON.stringify(
          one.map((/** @type {any} */ part) => (Array.isArray(part) ? part.map(String).sort() : part)),
        ),
      )
      .sort();
  return { mounts: sorted(mounts), auth: sorted(auth), policies: sorted(policies) };
}
