/** What a scenario sets up and takes away again, on Vaults that remember what they were asked. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetError } from '../../src/errors.js';
import { createScenarioSetup } from '../../src/scenario/run-setup.js';
import { planSetup } from '../../src/setup/plan.js';
import { setUp } from '../../src/setup/setup.js';
import { tearDown } from '../../src/setup/teardown.js';
import { fakeVault } from '../setup/fake-vault.js';

const DOWN = targetError('unreachable', 'http://b refused the connection.', 'Start it.');

/** @type {import('../../src/scenario/read.js').ScenarioSetup} */
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
    { say: (text) => void did.push(text), warn: (text) => void warned.push(text) },
    {
      connect: ({ plan }) =>
        /** @type {any} */ ({
          url: plan.target.url,
          close: async () => void did.push(`closed ${plan.target.url}`),
        }),
      async setUp(client, plan, say, report = { made: [], there: [] }) {
        const { url } = /** @type {any} */ (client);
        did.push(`set up ${plan.name} at ${url}`);
        if (vaults[url] === 'refuses') throw DOWN;
        if (vaults[url] === 'was there') report.there.push(MOUNT);
        else report.made.push(MOUNT);
        if (vaults[url] === 'half') throw DOWN;
        report.made.push(POLICY);
        say('Made it.');
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

describe('what a scenario sets up', () => {
  test('is made once for all steps on a target, and taken away at the end', async () => {
    const { made, did, deeds, warned } = stage([step('http://a'), step('http://b'), step('http://a')]);
    assert.equal((await made.up(never)).size, 0);
    assert.deepEqual(deeds(), ['set up load-test at http://a', 'set up load-test at http://b']);
    assert.ok(did.includes('http://a: Made it.'));
    await made.down();
    assert.deepEqual(deeds().slice(2), [
      'tore down load-test at http://a',
      'tore down load-test at http://b',
    ]);
    assert.deepEqual([did.filter((what) => what.startsWith('closed')).length, warned], [4, []]);
    await made.down();
    assert.equal(deeds().length, 4, 'once');
  });

  test('is made in each namespace of a server, and on no embedded one', async () => {
    const { made, deeds } = stage([
      step('http://a'),
      step('http://a', { namespace: 'n' }),
      step('http://b', { dev: true }),
    ]);
    await made.up(never);
    assert.equal(deeds().length, 2);
  });

  test('stays where the scenario says so', async () => {
    const { made, did, deeds } = stage([step('http://a')], { setup: { keep: true } });
    await made.up(never);
    assert.deepEqual(made.left(), []);
    await made.down();
    assert.equal(deeds().length, 1);
    assert.equal(did.at(-1), 'Left load-test at http://a, as the scenario says (keep).');
  });

  test("stays where it was there before: it is somebody's", async () => {
    const { made, deeds, warned } = stage([step('http://a')], { vaults: { 'http://a': 'was there' } });
    await made.up(never);
    await made.down();
    assert.deepEqual(deeds(), ['set up load-test at http://a']);
    assert.match(warned[0], /^load-test was set up at http:\/\/a before, and is left there/);
  });

  test('on a target that refuses leaves out its steps, and the others go on', async () => {
    const { made, deeds } = stage([step('http://a'), step('http://b'), step('http://b')], {
      vaults: { 'http://b': 'refuses' },
    });
    assert.deepEqual(
      [...(await made.up(never))],
      [
        [1, DOWN],
        [2, DOWN],
      ],
    );
    await made.down();
    assert.deepEqual(deeds().slice(2), ['tore down load-test at http://a']);
  });

  test('only by half is taken away as well', async () => {
    const { made, deeds } = stage([step('http://a')], { vaults: { 'http://a': 'half' } });
    assert.equal((await made.up(never)).size, 1);
    await made.down();
    assert.deepEqual(deeds().slice(1), ['tore down load-test at http://a']);
  });

  test('after an interruption is made nowhere else', async () => {
    const stop = new AbortController();
    stop.abort();
    const { made, deeds } = stage([step('http://a')]);
    await made.up(stop.signal);
    await made.down();
    assert.deepEqual(deeds(), []);
  });

  for (const how of /** @type {const} */ (['stays', 'gone'])) {
    test(`and cannot be taken away (${how}) is said, with the command that does`, async () => {
      const { made, warned } = stage([step('http://a'), step('http://b')], { vaults: { 'http://a': how } });
      await made.up(never);
      assert.equal(made.left().length, 2);
      await made.down();
      assert.match(
        warned.join(),
        /^(?:load-test|Not all of load-test) at http:\/\/a could .*vault-pki-load teardown --name load-test --url http:\/\/a\.$/,
      );
      assert.deepEqual([warned.length, made.left()], [1, []]);
    });
  }
});

test('what is left is said with the command that finds it: its namespace, its token', async () => {
  const { made } = stage([step('http://a', { namespace: 'team', tokenEnv: 'TOKEN_A' })]);
  await made.up(never);
  assert.deepEqual(made.left(), [
    'load-test is left at http://a. Take it away with VAULT_TOKEN="$TOKEN_A" vault-pki-load teardown --name load-test --url http://a --namespace team.',
  ]);
});

/**
 * @param {Record<string, ReturnType<typeof fakeVault>>} vaults by address
 * @param {Partial<typeof SETUP>} [setup]
 * @param {(url: string, path: string) => boolean} [fails] whether a write there does
 */
function stageOn(vaults, setup = {}, fails = () => false) {
  /** @type {string[]} */
  const warned = [];
  const connect = (/** @type {import('../../src/scenario/run-setup.js').Step} */ { plan: { target } }) => {
    const { client } = vaults[target.url];
    return {
      ...client,
      write: async (/** @type {string} */ path, /** @type {any} */ data) => {
        if (fails(target.url, path)) throw DOWN;
        return client.write(path, data);
      },
      close: async () => {},
    };
  };
  const made = createScenarioSetup(
    { ...SETUP, ...setup },
    Object.keys(vaults).map((url) => step(url)),
    { say: () => {}, warn: (text) => void warned.push(text) },
    { setUp, tearDown, connect },
  );
  return { made, warned };
}

describe('on Vaults that keep what they are told', () => {
  const earlier = (/** @type {ReturnType<typeof fakeVault>} */ { client }, /** @type {object} */ more = {}) =>
    setUp(client, planSetup({ name: 'load-test', caKeyType: 'ec', ...more }), () => {});
  const isAuto = (/** @type {ReturnType<typeof fakeVault>} */ vault) =>
    vault.mounted.mounts.get('load-test-int')?.writes.get('config/crl')?.auto_rebuild;

  test("two addresses of one Vault have one set-up, which is nobody else's", async () => {
    const vault = fakeVault();
    const empty = vault.state();
    const { made, warned } = stageOn({ 'http://a': vault, 'http://b': vault });
    assert.equal((await made.up(never)).size, 0);
    assert.equal(made.left().length, 1);
    await made.down();
    assert.deepEqual(vault.state(), empty);
    assert.deepEqual(warned, []);
  });

  test('what failed half-way by one address of a Vault, and was completed by another, is taken away', async () => {
    const vault = fakeVault();
    const empty = vault.state();
    const { made, warned } = stageOn(
      { 'http://a': vault, 'http://b': vault },
      {},
      (url, path) => url === 'http://a' && path === 'load-test-root/root/generate/internal',
    );
    // What was made until then does not stay, and is not said to.
    assert.deepEqual([...(await made.up(never))], [[0, DOWN]]);
    await made.down();
    assert.deepEqual(vault.state(), empty);
    assert.deepEqual(warned, []);
  });

  test('a set-up that was there on each of two Vaults stays on both', async () => {
    const vaults = { 'http://a': fakeVault(), 'http://b': fakeVault() };
    for (const vault of Object.values(vaults)) await earlier(vault, { with: ['kv'] });
    const before = Object.values(vaults).map((vault) => vault.state());
    const { made, warned } = stageOn(vaults);
    await made.up(never);
    await made.down();
    assert.deepEqual(
      Object.values(vaults).map((vault) => vault.state()),
      before,
    );
    assert.deepEqual(
      warned,
      ['a', 'b'].map(
        (host) =>
          `load-test was set up at http://${host} before, and is left there when the scenario is over.`,
      ),
    );
  });

  test('a set-up that was there keeps its settings, and what it lacked is said to stay', async () => {
    const vault = fakeVault();
    await earlier(vault, { autoRebuild: true });
    const { made, warned } = stageOn({ 'http://a': vault });
    assert.equal((await made.up(never)).size, 0);
    await made.down();
    assert.equal(isAuto(vault), true);
    assert.ok(vault.mounted.mounts.has('load-test-kv'));
    assert.deepEqual(warned, [
      'load-test was set up at http://a before, and is left there when the scenario is over, with what it lacked and this scenario added: load-test-kv; rules of the policy load-test.',
    ]);
  });

  test('a set-up that was there is refused where the scenario asks for other settings', async () => {
    const vault = fakeVault();
    await earlier(vault, { autoRebuild: true });
    const before = vault.state();
    const { made } = stageOn({ 'http://a': vault }, { autoRebuild: false });
    assert.equal((await made.up(never)).get(0)?.code, 'other_auto_rebuild');
    await made.down();
    assert.deepEqual(vault.state(), before);
  });
});
