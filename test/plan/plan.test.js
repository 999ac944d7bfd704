import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { loadOperation } from '../../src/operations/index.js';
import { commonOptions } from '../../src/plan/common-options.js';
import { makePlan, planOfRun } from '../../src/plan/plan.js';
import { readEnvironment } from '../../src/vault/environment.js';

const issue = await loadOperation('issue');
const ocsp = await loadOperation('ocsp');
const TOKEN = 'hvs.planted-token';

/** @param {Record<string, unknown>} [given] @param {Record<string, string>} [env] */
function plan(given = {}, env = {}, operation = issue) {
  return makePlan(operation, given, readEnvironment({ VAULT_TOKEN: TOKEN, ...env }));
}

/** @typedef {Record<string, any>} Given */

/** Options, environment, what of the plan, value. @type {[Given, Record<string, string>, string, unknown][]} */
const VALUES = [
  [{}, {}, 'load.model load.ratePerSecond', ['closed', null]],
  [{ rate: '1800/h' }, {}, 'load.model load.ratePerSecond', ['open', 0.5]],
  [{}, {}, 'load.durationMs load.requests', [30_000, null]],
  [{ requests: 5 }, {}, 'load.durationMs load.requests', [null, 5]],
  [{ requests: 5, duration: '1s' }, {}, 'load.durationMs load.requests', [1000, 5]],
  [{}, {}, 'load.concurrency load.arrivals load.rampUpMs load.warmupMs', [10, 'constant', 0, 0]],
  [{}, {}, 'load.overflow load.threads load.pacing load.coldStart', ['queue', 1, 'auto', false]],
  [{ coldStart: true }, {}, 'load.coldStart', [true]],
  [{}, {}, 'target.url target.mount target.namespace dev', ['http://127.0.0.1:8200', 'pki_int', null, false]],
  [{}, {}, 'load.timeoutMs', [10_000]],
  [{ timeout_ms: '250' }, {}, 'load.timeoutMs', [250]],
  [{}, { VAULT_CLIENT_TIMEOUT: '3' }, 'load.timeoutMs', [3000]],
  [{ timeout: '1s' }, { VAULT_CLIENT_TIMEOUT: '3' }, 'load.timeoutMs', [1000]],
  [{ mount: '/a/b/' }, {}, 'target.mount', ['a/b']],
  [{ seed: '4294967295' }, {}, 'load.seed', [0xffff_ffff]],
  [{}, { VAULT_ADDR: 'https://v:1/' }, 'target.url', ['https://v:1']],
  [{}, { VAULT_ADDR: 'https://v:1', BAO_ADDR: 'https://b:1' }, 'target.url', ['https://b:1']],
  [{ url: 'http://u' }, { BAO_ADDR: 'not a url' }, 'target.url', ['http://u']],
  [{}, { VAULT_NAMESPACE: 'e' }, 'target.namespace', ['e']],
  [{ namespace: 'n' }, { VAULT_NAMESPACE: 'e' }, 'target.namespace', ['n']],
  [{ dev: true }, { VAULT_NAMESPACE: 'e', VAULT_ADDR: 'not a url' }, 'target.namespace', [null]],
  [{}, { VAULT_SKIP_VERIFY: 'true' }, 'target.tls.skipVerify', [true]],
  [{ tlsSkipVerify: 'false' }, { VAULT_SKIP_VERIFY: 'true' }, 'target.tls.skipVerify', [false]],
  [{ caCert: 'mine' }, { VAULT_CACERT: 'theirs' }, 'target.tls.caCert', ['mine']],
  [
    {},
    { VAULT_CLIENT_CERT: 'c', VAULT_CLIENT_KEY: 'k' },
    'target.tls.clientCert target.tls.clientKey',
    ['c', 'k'],
  ],
];

/** @param {any} made @param {string} path */
const at = (made, path) => path.split('.').reduce((inner, name) => inner[name], made);

/** @type {[string, Given, string, RegExp, string?][]} sentence, options, code, message, operation */
const REFUSED = [
  ['an unknown option', { rps: 5 }, 'unknown_option', /issue has no option "rps".*--help/],
  ['a property of Object.prototype', { constructor: 5 }, 'unknown_option', /"constructor"/],
  ['--dev with --url', { dev: true, url: 'http://x' }, 'contradiction', /--dev.*--url.*one of them/],
  ['2 time-outs', { timeout: '1s', timeout_ms: 5 }, 'contradiction', /--timeout .*--timeout_ms.*one of them/],
  [
    'many threads',
    { threads: 4, concurrency: 3 },
    'contradiction',
    /--threads 4.*--concurrency 3.*at least 4/,
  ],
  ['streams of HTTP/1.1', { streams: 5 }, 'contradiction', /--streams 5.*HTTP\/1\.1.*--http 2/],
  [
    'new connections, and a number of requests for each',
    { connections: 'new', 'requests-per-connection': 5 },
    'contradiction',
    /--connections new and --requests-per-connection.*one of them/,
  ],
  ['--tls without --dev', { tls: true }, 'contradiction', /--tls is only for --dev.*https/],
  ['a name to connect from', { 'local-address': ['localhost'] }, 'bad_option', /not an IP address/],
  [
    'too many Poisson requests without a duration',
    { rate: '1/s', arrivals: 'poisson', requests: 300_000_000 },
    'contradiction',
    /allows 100000000 arrivals, but there would be 300000000\. Shorten the run/,
  ],
  ['Poisson without a rate', { arrivals: 'poisson' }, 'contradiction', /--arrivals poisson.*Add --rate/],
  ['drop without a rate', { overflow: 'drop' }, 'contradiction', /--overflow drop.*Add --rate/],
  ['a ramp without a rate', { 'ramp-up': '5s' }, 'contradiction', /--ramp-up.*Add --rate/],
  ['a mount with ..', { mount: 'a/../b' }, 'bad_option', /--mount.*path of a mount/],
  ['no duration', { duration: 0 }, 'out_of_range', /--duration.*at least 1 ms/],
  ['an excessive rate', { rate: '1e7' }, 'out_of_range', /--rate.*at most 1000000\/s/],
  ['a seed of 33 bits', { seed: 2 ** 32 }, 'out_of_range', /--seed.*at most 4294967295/],
  ['an invalid requirement', { require: 'p99' }, 'bad_requirement', /"p99".*use </],
  ['--pool without --sign', { pool: 5 }, 'contradiction', /--pool.*--sign/],
  ['--cert, --serials', { cert: 'a', serials: 'b' }, 'contradiction', /--cert and --serials.*one/, 'ocsp'],
  [
    '2 responders',
    { ocspUrl: 'http://x', fromAia: true },
    'contradiction',
    /--ocsp-url and --from-aia/,
    'ocsp',
  ],
  ['an issuer without certificates', { issuer: 'a' }, 'contradiction', /--issuer.*--cert.*--serials/, 'ocsp'],
];

describe('a plan', () => {
  for (const [given, env, paths, values] of VALUES) {
    test(`of ${JSON.stringify(given)} in ${JSON.stringify(env)} has ${paths} ${values}`, () => {
      const made = plan(given, env);
      assert.deepEqual(
        paths.split(' ').map((path) => at(made, path)),
        values,
      );
    });
  }

  for (const address of [
    'vault.example.com:8200',
    'unix:run/vault',
    'http://me:hunter2@host',
    'http://h?x',
  ]) {
    test(`rejects ${address} in VAULT_ADDR without showing a password`, () => {
      assert.throws(() => plan({}, { VAULT_ADDR: address }), {
        code: 'bad_url',
        message: /^(?!.*hunter2).*VAULT_ADDR/s,
      });
    });
  }

  for (const [sentence, given, code, message, operation] of REFUSED) {
    test(`rejects ${sentence}`, () => {
      assert.throws(
        () => plan(given, {}, operation === 'ocsp' ? ocsp : issue),
        (error) => {
          assert.ok(error instanceof PkiLoadError, String(error));
          assert.equal(error.code, code);
          assert.match(error.full, message);
          return true;
        },
      );
    });
  }

  test('rejects every repeated option, unless it is repeatable', () => {
    for (const operation of [issue, ocsp]) {
      for (const [name, spec] of Object.entries({ ...commonOptions, ...operation.options })) {
        if (spec.repeatable || spec.type === 'list') continue;
        assert.throws(() => plan({ [name]: ['a', 'b'] }, {}, operation), {
          code: 'repeated_option',
          message: `--${name} is given 2 times.`,
        });
      }
    }
  });

  test('is plain, deeply frozen and without a token', () => {
    const made = plan({ rate: 20, require: ['p99<1s', 'rate>=1000/h'], altNames: 'a,b' });
    assert.deepEqual(structuredClone(made), made);
    assert.deepEqual(JSON.parse(JSON.stringify(made)), made);
    assert.doesNotMatch(JSON.stringify(made), new RegExp(TOKEN));
    const check = (/** @type {unknown} */ value) => {
      if (typeof value !== 'object' || value === null) return;
      assert.ok(Object.isFrozen(value));
      Object.values(value).forEach(check);
    };
    check(made);
  });
});

describe('the runs of one plan', () => {
  const made = plan({ rate: '100/s', requests: 1000, arrivals: 'poisson', seed: 7 });
  const runs = Array.from({ length: 50 }, (_, i) => planOfRun(made, i));

  test("the first has the plan's seed", () => {
    assert.deepEqual(runs[0], made);
  });

  test('differ only in their seeds, which are distinct and reproducible', () => {
    for (const run of runs) {
      assert.deepEqual({ ...run, load: { ...run.load, seed: 7 } }, made);
      assert.ok(Object.isFrozen(run) && Object.isFrozen(run.load));
    }
    const seeds = runs.map(({ load }) => load.seed);
    assert.equal(new Set(seeds).size, runs.length);
    assert.deepEqual(
      seeds,
      runs.map((_, i) => planOfRun(made, i).load.seed),
    );
  });
});

test('an environment without any setting has the default of each', () => {
  const { target } = makePlan(issue, {}, /** @type {any} */ ({}));
  assert.deepEqual([target.url, target.namespace], ['http://127.0.0.1:8200', null]);
});
