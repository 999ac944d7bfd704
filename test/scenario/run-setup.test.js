/** What a scenario sets up and takes away again, on Vaults that remember what they were asked. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetError } from '../../src/errors.js';
import { createScenarioSetup } from '../../src/scenario/run-setup.js';

const DOWN = targetError('unreachable', 'http://b refused the connection.', 'Start it.');

/** @type {import('../../src/scenario/read.js').ScenarioSetup} */
const SETUP = { name: 'load-test', caKeyType: 'ec', autoRebuild: false, with: ['kv'], keep: false };

const MOUNT = /** @type {const} */ ({ kind: 'mount', path: 'load-test-int', type: 'pki' });
const POLICY = /** @type {const} */ ({ kind: 'policy', path: 'load-test' });

/**
 * @param {string} url
 * @param {{namespace?: string | null, dev?: boolean}} [more]
 */
function step(url, { namespace = null, dev = false } = {}) {
  return { name: url, token: 't', plan: /** @type {any} */ ({ dev, target: { url, namespace, tls: {} } }) };
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
        /load-test at http:\/\/a could .*vault-pki-load teardown --url http:\/\/a --name load-test\.$|Not all of load-test at http:\/\/a could .*--url http:\/\/a --name load-test\.$/,
      );
      assert.deepEqual([warned.length, made.left()], [1, []]);
    });
  }
});
