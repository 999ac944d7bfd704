/** Names and policies of setups. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetError } from '../../../src/common/errors.js';
import { untilReady } from '../../../src/vault/own-mount.js';
import { planSetup, policyText } from '../../../src/vault/setup/setup-plan.js';

/** @type {[string, string][]} what is wrong with it, name */
const BAD_NAMES = [
  ['too short', 'ab'],
  ['too long', 'a'.repeat(42)],
  ['upper case', 'Load'],
  ['a slash', 'my/load'],
  ['a glob', 'load*'],
  ['a digit first', '1load'],
  ['empty', ''],
  ['the default policy', 'default'],
  ['the root policy', 'root'],
  ["like runs' own mounts", 'vault-pki-load-kv'],
  ["begins like runs' own mounts", 'vault-pki-load-transit-2'],
];

describe('names that cannot be used:', () => {
  for (const [what, name] of BAD_NAMES) {
    test(what, () =>
      assert.throws(() => planSetup({ name }), {
        code: 'bad_setup_name',
        remedy: /letters|^Choose another\.$/,
      }),
    );
  }
  for (const name of ['vault-pki-load', 'load', 'vault-pki-load-kv2', 'ci-7f3a']) {
    test(`but ${name} can`, () => assert.equal(planSetup({ name }).intermediate, `${name}-int`));
  }
});

test('an unknown engine', () => {
  assert.throws(() => planSetup({ with: ['kv', 'ssh'] }), {
    message: '--with is "ssh", which is not one of kv, transit, approle.',
  });
});

test('mounts are unique, in a fixed order', () => {
  const { mounts } = planSetup({ name: 'ci-1', with: ['approle', 'kv', 'kv'] });
  assert.deepEqual(
    mounts.map(({ path }) => path),
    ['ci-1-root', 'ci-1-int', 'ci-1-kv', 'auth/ci-1-approle'],
  );
});

describe('the policy', () => {
  test('of a PKI alone has only paths of the intermediate', () => {
    const paths = [...policyText(planSetup()).matchAll(/^path "([^"]+)"/gm)].map(([, path]) => path);
    assert.ok(paths.length > 0);
    for (const path of paths) assert.match(path, /^vault-pki-load-int\//);
  });

  test('of AppRole allows only mounts of that type, and roles with the default policy', () => {
    const text = policyText(planSetup({ with: ['approle'] }));
    const [mounting, roles] = text.split(/^path /m).slice(-2);
    assert.match(mounting, /^"sys\/auth\/vault-pki-load-approle-\*"[\s\S]*type = \["approle"\]/);
    assert.match(roles, /^"auth\/vault-pki-load-approle-\*"[\s\S]*allowed_parameters/);
    assert.deepEqual(roles.match(/^.*policies.*$/gm), ['    token_policies = [["default"]]']);
  });
});

describe('a mount that is not ready yet', () => {
  const early = () => targetError('vault_bad_request', 'Upgrading from non-versioned to versioned data.');

  test('is retried', async () => {
    const answers = [early(), targetError('vault_no_route', 'no handler'), 'ready'];
    /** @type {number[]} */
    const pauses = [];
    const ask = async () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    assert.equal(await untilReady(ask, undefined, async (ms) => void pauses.push(ms)), 'ready');
    assert.deepEqual(pauses, [100, 100]);
  });

  test('times out after five seconds; other refusals are final', async () => {
    let [asked, now] = [0, 0];
    const pause = async (/** @type {number} */ ms) => {
      now += ms;
    };
    const ask =
      (/** @type {Error} */ error, takesMs = 0) =>
      async () => {
        asked++;
        now += takesMs;
        throw error;
      };
    await assert.rejects(
      untilReady(ask(early()), undefined, pause, () => now),
      /Upgrading/,
    );
    assert.equal(asked, 51);
    await assert.rejects(
      untilReady(ask(early(), 4000), undefined, pause, () => now),
      /Upgrading/,
    );
    assert.equal(asked, 53, 'slow calls count');
    await assert.rejects(
      untilReady(ask(targetError('vault_bad_request', 'no')), undefined, async () => {}),
      /no/,
    );
    assert.equal(asked, 54);
  });
});
