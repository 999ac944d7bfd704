/** What a scenario sets up and takes away again, on Vaults that remember what they were asked. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScenarioSetup } from '../../../src/campaigns/scenario/run-setup.js';
import { interruptible } from '../../../src/cli/setup.js';
import { targetError } from '../../../src/common/errors.js';
import { setUp } from '../../../src/vault/setup/setup.js';
import { planSetup } from '../../../src/vault/setup/setup-plan.js';
import { tearDown } from '../../../src/vault/setup/teardown.js';
import { deferred } from '../../deferred.js';
import { fakeVault } from '../../vault/setup/fake-vault.js';

/** @import { ScenarioSetup } from '../../../src/campaigns/scenario/read.js' */
/** @import { Step } from '../../../src/campaigns/scenario/run-setup.js' */

const DOWN = targetError('unreachable', 'http://b refused the connection.', 'Start it.');

/** @type {ScenarioSetup} */
const SETUP = { name: 'load-test', caKeyType: 'ec', autoRebuild: null, with: ['kv'], keep: false };

const MOUNT = /** @type {const} */ ({ kind: 'mount', path: 'load-test-int', type: 'pki' });
const POLICY = /** @type {const} */ ({ kind: 'policy', path: 'load-test' });

/**
 * @param {string} url
 * @param {{namespace?: string | null, dev?: boolean, tokenEnv?: string | null}} [more]
 */
function step(url, { namespace = null, dev = false, tokenEnv = null } = {}) {
  const plan = /** @type {any} */ ({ dev, target: { url, namespace, tls: {} } });
  return { name: url, token: 't', tokenEnv, plan };
}

/**
 * @param {ReturnType<typeof step>[]} steps
 * @param {object} [given]
 * @param {Partial<typeof SETUP>} [given.setup]
 * @param {Record<string, 'was there' | 'half' | 'refuses' | 'stays' | 'gone'>} [given.vaults] by address, what is with them
 */
function stage(steps, { setup = {}, vaults = {} } = {}) {
  /** @type {string[]} */
  const did = [];
  /** @type {string[]} */
  const warned = [];
  const made = createScenarioSetup(
    { ...SETUP, ...setup },
    steps,
    { log: (text) => void did.push(text), warn: (text) => void warned.push(text), interruptible },
    {
      connect: ({ plan }) =>
        /** @type {any} */ ({
          url: plan.target.url,
          close: async () => void did.push(`closed ${plan.target.url}`),
        }),
      async setUp(client, plan, log, report = { created: [], existing: [] }) {
        const { url } = /** @type {any} */ (client);
        did.push(`set up ${plan.name} at ${url}`);
        if (vaults[url] === 'refuses') throw DOWN;
        if (vaults[url] === 'was there') report.existing.push(MOUNT);
        else report.created.push(MOUNT);
        if (vaults[url] === 'half') throw DOWN;
        report.created.push(POLICY);
        log('Made it.');
        return report;
      },
      async tearDown(client, name) {
        const { url } = /** @type {any} */ (client);
        did.push(`tore down ${name} at ${url}`);
        if (vaults[url] === 'gone') throw DOWN;
        return vaults[url] !== 'stays';
      },
    },
  );
  const isDeed = (/** @type {string} */ what) => /^(?:set up|tore down)/.test(what);
  return { made, did, warned, deeds: () => did.filter(isDeed) };
}

const never = new AbortController().signal;

describe('the setup of a scenario', () => {
  test('is created once for all steps on a target, and removed at the end', async () => {
    const { made, did, deeds, warned } = stage([step('http://a'), step('http://b'), step('http://a')]);
    assert.equal((await made.setUp(never)).size, 0);
    assert.deepEqual(deeds(), ['set up load-test at http://a', 'set up load-test at http://b']);
    assert.ok(did.includes('http://a: Made it.'));
    await made.tearDown();
    assert.deepEqual(deeds().slice(2), [
      'tore down load-test at http://a',
      'tore down load-test at http://b',
    ]);
    assert.deepEqual([did.filter((what) => what.startsWith('closed')).length, warned], [4, []]);
    await made.tearDown();
    assert.equal(deeds().length, 4, 'once');
  });

  test('is created in each namespace of a server, but not on embedded servers', async () => {
    const { made, deeds } = stage([
      step('http://a'),
      step('http://a', { namespace: 'n' }),
      step('http://b', { dev: true }),
    ]);
    await made.setUp(never);
    assert.equal(deeds().length, 2);
  });

  test('stays with keep', async () => {
    const { made, did, deeds } = stage([step('http://a')], { setup: { keep: true } });
    await made.setUp(never);
    assert.deepEqual(made.leftovers(), []);
    await made.tearDown();
    assert.equal(deeds().length, 1);
    assert.equal(did.at(-1), 'Left the setup load-test at http://a (keep).');
  });

  test('stays if it existed before', async () => {
    const { made, deeds, warned } = stage([step('http://a')], { vaults: { 'http://a': 'was there' } });
    await made.setUp(never);
    await made.tearDown();
    assert.deepEqual(deeds(), ['set up load-test at http://a']);
    assert.match(
      warned[0],
      /^The setup load-test already existed at http:\/\/a; the scenario does not remove it or .* To remove it: vault-pki-load teardown --name load-test --url http:\/\/a$/,
    );
  });

  test('on a target that refuses skips its steps, and the others continue', async () => {
    const { made, deeds } = stage([step('http://a'), step('http://b'), step('http://b')], {
      vaults: { 'http://b': 'refuses' },
    });
    assert.deepEqual(
      [...(await made.setUp(never))],
      [
        [1, DOWN],
        [2, DOWN],
      ],
    );
    await made.tearDown();
    assert.deepEqual(deeds().slice(2), ['tore down load-test at http://a']);
  });

  test('is removed even if incomplete', async () => {
    const { made, deeds } = stage([step('http://a')], { vaults: { 'http://a': 'half' } });
    assert.equal((await made.setUp(never)).size, 1);
    await made.tearDown();
    assert.deepEqual(deeds().slice(1), ['tore down load-test at http://a']);
  });

  test('is not created on further targets after an interruption', async () => {
    const stop = new AbortController();
    stop.abort();
    const { made, deeds } = stage([step('http://a')]);
    await made.setUp(stop.signal);
    await made.tearDown();
    assert.deepEqual(deeds(), []);
  });

  for (const how of /** @type {const} */ (['stays', 'gone'])) {
    test(`that cannot be removed (${how}) is reported, with the command to remove it`, async () => {
      const { made, warned } = stage([step('http://a'), step('http://b')], { vaults: { 'http://a': how } });
      await made.setUp(never);
      assert.equal(made.leftovers().length, 2);
      await made.tearDown();
      assert.match(
        warned.join(),
        /^(?:The|Not all of the) setup load-test at http:\/\/a could .*vault-pki-load teardown --name load-test --url http:\/\/a$/,
      );
      assert.deepEqual([warned.length, made.leftovers()], [1, []]);
    });
  }
});

test('reports long waits during removal, too, which a stop does not end', async () => {
  /** @type {boolean[]} */
  const stopped = [];
  const stop = new AbortController();
  const made = createScenarioSetup(
    SETUP,
    [step('http://a')],
    {
      log() {},
      warn: (text) => assert.fail(text),
      interruptible(client, signal) {
        stopped.push(signal.aborted);
        return { ...client, origin: 'waits are said' };
      },
    },
    {
      connect: () => /** @type {any} */ ({ close: async () => {} }),
      async setUp(_client, _plan, _log, report = { created: [], existing: [] }) {
        report.created.push(MOUNT);
        return report;
      },
      async tearDown({ origin }) {
        assert.equal(origin, 'waits are said');
        return true;
      },
    },
  );
  await made.setUp(stop.signal);
  stop.abort();
  await made.tearDown();
  assert.deepEqual([stopped, made.leftovers()], [[false, false], []]);
});

test('a stop ends the removal after 30 s', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stop = new AbortController();
  /** @type {boolean[]} */
  const ended = [];
  const made = createScenarioSetup(
    SETUP,
    [step('http://a')],
    { log() {}, warn() {}, interruptible: (client, tooLate) => Object.assign({ ...client }, { tooLate }) },
    {
      connect: () => /** @type {any} */ ({ close: async () => {} }),
      async setUp(_client, _plan, _log, report = { created: [], existing: [] }) {
        report.created.push(MOUNT);
        return report;
      },
      async tearDown(client) {
        const { tooLate } = /** @type {any} */ (client);
        stop.abort();
        for (const ms of [29_999, 1]) {
          t.mock.timers.tick(ms);
          ended.push(tooLate.aborted);
        }
        return true;
      },
    },
  );
  await made.setUp(stop.signal);
  await made.tearDown(stop.signal);
  assert.deepEqual(ended, [false, true]);
});

for (const isFound of [true, false]) {
  const title = `a mount whose creation Vault did not confirm is ${isFound ? 'removed' : 'named, as it may appear later'}`;
  test(title, async () => {
    const late = { ...MOUNT, uncertain: true };
    /** @type {string[]} */
    const warned = [];
    const made = createScenarioSetup(
      SETUP,
      [step('http://a')],
      { log() {}, warn: (text) => void warned.push(text), interruptible },
      {
        connect: () => /** @type {any} */ ({ close: async () => {} }),
        async setUp(_client, _plan, _log, report = { created: [], existing: [] }) {
          report.created.push(late);
          throw DOWN;
        },
        async tearDown(_client, _name, _log, report = { removed: [], remaining: [] }) {
          if (isFound) report.removed.push(MOUNT);
          return true;
        },
      },
    );
    await made.setUp(never);
    await made.tearDown();
    const text =
      'load-test-int may still appear at http://a: Vault did not respond to its creation. To remove it: vault-pki-load teardown --name load-test --url http://a';
    assert.deepEqual(warned, isFound ? [] : [text]);
  });
}

test('reports why it cannot be removed, with the remedy', async () => {
  const { made, warned } = stage([step('http://a')], { vaults: { 'http://a': 'gone' } });
  await made.setUp(never);
  await made.tearDown();
  assert.deepEqual(warned, [
    'The setup load-test at http://a could not be removed: http://b refused the connection. Start it. To remove it: vault-pki-load teardown --name load-test --url http://a',
  ]);
});

test('reports leftovers with a command that contains their namespace and token variable', async () => {
  const { made } = stage([step('http://a', { namespace: 'team', tokenEnv: 'TOKEN_A' })]);
  await made.setUp(never);
  assert.deepEqual(made.leftovers(), [
    'The setup load-test is left at http://a. To remove it: BAO_TOKEN="$TOKEN_A" vault-pki-load teardown --name load-test --url http://a --namespace team',
  ]);
});

/**
 * @param {Record<string, ReturnType<typeof fakeVault>>} vaults by address
 * @param {Partial<typeof SETUP>} [setup]
 * @param {(url: string, path: string) => void | Promise<void>} [onWrite] before each; may throw
 */
function stageOn(vaults, setup = {}, onWrite = () => {}) {
  /** @type {string[]} */
  const warned = [];
  /** Reads of the mounts of a limited time, ms. @type {number[]} */
  const limits = [];
  const connect = (/** @type {Step} */ { plan: { target } }) => {
    const { client } = vaults[target.url];
    return {
      ...client,
      write: async (/** @type {string} */ path, /** @type {any} */ data) => {
        await onWrite(target.url, path);
        return client.write(path, data);
      },
      read: async (/** @type {string} */ path, /** @type {number | undefined} */ within = undefined) => {
        if (within !== undefined) limits.push(within);
        return client.read(path);
      },
      close: async () => {},
    };
  };
  const made = createScenarioSetup(
    { ...SETUP, ...setup },
    Object.keys(vaults).map((url) => step(url)),
    { log: () => {}, warn: (text) => void warned.push(text), interruptible },
    { setUp, tearDown, connect },
  );
  return { made, warned, limits };
}

/** @param {(url: string, path: string) => boolean} is @returns {(url: string, path: string) => void} writes that fail */
const failing = (is) => (url, path) => {
  if (is(url, path)) throw DOWN;
};

/** @param {string} at path of the write */
function heldAt(at) {
  const { promise: reached, resolve: reach } = deferred();
  const { promise: released, resolve: release } = deferred();
  return {
    reached,
    release,
    onWrite: async (/** @type {string} */ _url, /** @type {string} */ path) => {
      if (path !== at) return;
      reach();
      await released;
    },
  };
}

const TEARDOWN_A = 'vault-pki-load teardown --name load-test --url http://a';

describe('on stateful fake Vaults', () => {
  const earlier = (/** @type {ReturnType<typeof fakeVault>} */ { client }, /** @type {object} */ more = {}) =>
    setUp(client, planSetup({ name: 'load-test', caKeyType: 'ec', ...more }), () => {});
  const isAuto = (/** @type {ReturnType<typeof fakeVault>} */ vault) =>
    vault.mounted.mounts.get('load-test-int')?.writes.get('config/crl')?.auto_rebuild;

  test('two addresses of one Vault share one setup, which counts as our own', async () => {
    const vault = fakeVault();
    const empty = vault.state();
    const { made, warned } = stageOn({ 'http://a': vault, 'http://b': vault });
    assert.equal((await made.setUp(never)).size, 0);
    assert.equal(made.leftovers().length, 1);
    await made.tearDown();
    assert.deepEqual(vault.state(), empty);
    assert.deepEqual(warned, []);
  });

  test('removes a setup that failed half-way at one address of a Vault, and was completed at another', async () => {
    const vault = fakeVault();
    const empty = vault.state();
    const { made, warned } = stageOn(
      { 'http://a': vault, 'http://b': vault },
      {},
      failing((url, path) => url === 'http://a' && path === 'load-test-root/root/generate/internal'),
    );
    // What was made until then does not stay, and is not said to.
    assert.deepEqual([...(await made.setUp(never))], [[0, DOWN]]);
    await made.tearDown();
    assert.deepEqual(vault.state(), empty);
    assert.deepEqual(warned, []);
  });

  test('keeps a setup that existed on both of two Vaults', async () => {
    const vaults = { 'http://a': fakeVault(), 'http://b': fakeVault() };
    for (const vault of Object.values(vaults)) await earlier(vault, { with: ['kv'] });
    const before = Object.values(vaults).map((vault) => vault.state());
    const { made, warned } = stageOn(vaults);
    await made.setUp(never);
    await made.tearDown();
    const told = Object.values(vaults).map((vault) => vault.state());
    assert.deepEqual(told, before);
    assert.deepEqual(
      warned,
      ['a', 'b'].map(
        (host) =>
          `The setup load-test already existed at http://${host}; the scenario does not remove it. To remove it: vault-pki-load teardown --name load-test --url http://${host}`,
      ),
    );
  });

  test('keeps the settings of an existing setup, and reports that its additions stay', async () => {
    const vault = fakeVault();
    await earlier(vault, { autoRebuild: true });
    const { made, warned } = stageOn({ 'http://a': vault });
    assert.equal((await made.setUp(never)).size, 0);
    await made.tearDown();
    assert.equal(isAuto(vault), true);
    assert.ok(vault.mounted.mounts.has('load-test-kv'));
    assert.deepEqual(warned, [
      'The setup load-test already existed at http://a; the scenario does not remove it or its own additions. To remove it: vault-pki-load teardown --name load-test --url http://a',
    ]);
  });

  test('a scenario stopped while completing an existing setup does not remove it', async () => {
    const vault = fakeVault();
    await earlier(vault, { with: ['kv'] });
    for (const gone of ['load-test-root', 'load-test-int']) vault.mounted.mounts.delete(gone);
    const stop = new AbortController();
    const { made, warned } = stageOn({ 'http://a': vault }, {}, (_url, path) => {
      if (path === 'sys/mounts/load-test-root') stop.abort();
    });
    await made.setUp(stop.signal);
    assert.ok(vault.mounted.mounts.has('load-test-root'));
    await made.tearDown();
    assert.ok(vault.mounted.mounts.has('load-test-kv'));
    assert.match(
      warned.join(),
      /^The setup load-test already existed at http:\/\/a; the scenario does not remove it or its own additions\./,
    );
  });

  test('rejects an existing setup with other settings', async () => {
    const vault = fakeVault();
    await earlier(vault, { autoRebuild: true });
    const before = vault.state();
    const { made } = stageOn({ 'http://a': vault }, { autoRebuild: false });
    assert.equal((await made.setUp(never)).get(0)?.code, 'auto_rebuild_differs');
    await made.tearDown();
    assert.deepEqual(vault.state(), before);
  });

  test('whichever write fails at one address of a Vault, the other address completes the setup, and it is removed', async () => {
    /** @type {string[]} */
    const paths = [];
    const reference = stageOn({ 'http://a': fakeVault() }, { autoRebuild: true }, (_url, path) => {
      paths.push(path);
    });
    await reference.made.setUp(never);
    assert.ok(paths.includes('load-test-int/config/crl'));
    for (const at of new Set(paths)) {
      const vault = fakeVault();
      const empty = vault.state();
      const { made, warned } = stageOn(
        { 'http://a': vault, 'http://b': vault },
        { autoRebuild: true },
        failing((url, path) => url === 'http://a' && path === at),
      );
      assert.deepEqual([...(await made.setUp(never))], [[0, DOWN]], at);
      assert.equal(isAuto(vault), true, at);
      await made.tearDown();
      assert.deepEqual(vault.state(), empty, at);
      assert.deepEqual(warned, [], at);
    }
  });

  test('reads the UUID with a short timeout, but not with keep or a single target', async () => {
    const two = () => {
      const vault = fakeVault();
      return { 'http://a': vault, 'http://b': vault };
    };
    const limitsOf = async (/** @type {Parameters<typeof stageOn>} */ ...how) => {
      const { made, limits } = stageOn(...how);
      await made.setUp(never);
      return limits;
    };
    assert.deepEqual(await limitsOf(two()), [10_000, 10_000]);
    assert.deepEqual(await limitsOf(two(), { keep: true }), []);
    assert.deepEqual(await limitsOf({ 'http://a': fakeVault() }), []);
  });
});

describe('during setup', () => {
  for (const at of [
    'sys/mounts/load-test-root',
    'sys/mounts/load-test-int',
    'load-test-int/roles/example-dot-com',
  ]) {
    test(`reports what an immediate exit would leave (at ${at})`, async () => {
      const vault = fakeVault();
      const empty = vault.state();
      const { reached, release, onWrite } = heldAt(at);
      const { made } = stageOn({ 'http://a': vault }, {}, onWrite);
      const up = made.setUp(never);
      await reached;
      assert.deepEqual(made.leftovers(), [
        `The setup load-test is left at http://a. To remove it: ${TEARDOWN_A}`,
      ]);
      release();
      await up;
      await made.tearDown();
      assert.deepEqual([made.leftovers(), vault.state()], [[], empty]);
    });
  }

  test('does not report an existing setup as left behind', async () => {
    const vault = fakeVault();
    await setUp(vault.client, planSetup({ name: 'load-test', caKeyType: 'ec' }), () => {});
    const { reached, release, onWrite } = heldAt('sys/mounts/load-test-kv');
    const { made } = stageOn({ 'http://a': vault }, {}, onWrite);
    const up = made.setUp(never);
    await reached;
    assert.deepEqual(made.leftovers(), []);
    release();
    await up;
  });

  test('an interruption ends it after the current call, and the created objects are removed', async () => {
    const vaults = { 'http://a': fakeVault(), 'http://b': fakeVault() };
    const empty = vaults['http://a'].state();
    const { reached, release, onWrite } = heldAt('load-test-root/root/generate/internal');
    const { made, warned } = stageOn(vaults, {}, onWrite);
    const stop = new AbortController();
    const up = made.setUp(stop.signal);
    await reached;
    stop.abort();
    release();
    assert.equal((await up).get(0)?.code, 'interrupted');
    assert.deepEqual(vaults['http://a'].calls.filter(({ method }) => method === 'POST').at(-1), {
      method: 'POST',
      path: 'load-test-root/root/generate/internal',
    });
    assert.deepEqual(vaults['http://b'].calls, []);
    await made.tearDown();
    assert.deepEqual([vaults['http://a'].state(), warned], [empty, []]);
  });
});
