/** `--join` on the command line: which part this is, the secret, and mistakes that are found before the other parts are awaited. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { after, describe, test } from 'node:test';
import { readJoin } from '../../src/cli/join.js';
import { assertRefused, scratch, startBatch } from './support.js';

/** @import { AddressInfo } from 'node:net' */

const run = startBatch({ after });
const SECRET = { VAULT_PKI_LOAD_JOIN_SECRET: 'a secret of the test' };
const PART = { ...SECRET, NOMAD_ALLOC_INDEX: '1' };

/** As options are read. @param {Record<string, unknown>} given @param {NodeJS.ProcessEnv} env */
const read = ({ join = '10.0.0.5:9555', parts = null, joinTimeout = null, ...given }, env) =>
  readJoin({ join, parts, joinTimeout }, given, env);

describe('the part and the number of parts come from', () => {
  /** @type {[string, Record<string, unknown>, Record<string, string>, [number, number]][]} */
  const TABLE = [
    ['--shard, before anything else', { shard: '2/4' }, { ...PART, NOMAD_GROUP_COUNT: '9' }, [2, 4]],
    ['Kubernetes and --parts', { parts: 3 }, { ...SECRET, JOB_COMPLETION_INDEX: '2' }, [2, 3]],
    ['Nomad and --parts', { parts: 3 }, PART, [1, 3]],
    ['Nomad and its count', {}, { ...PART, NOMAD_GROUP_COUNT: '5' }, [1, 5]],
    ['the environment', {}, { ...PART, VAULT_PKI_LOAD_PARTS: '7' }, [1, 7]],
    ['--parts, before the environment', { parts: 3 }, { ...PART, VAULT_PKI_LOAD_PARTS: '7' }, [1, 3]],
  ];
  for (const [what, given, env, [index, of]] of TABLE)
    test(what, () => assert.deepEqual(read(given, env)?.part, { index, of }));
});

test('the secret may be in a file; without --join-timeout, parts wait 5 minutes; the seed is as given', (t) => {
  const file = scratch(t)('secret', '  another secret of the test \n');
  const given = { shard: '0/2' };
  const { secret, timeoutMs, seed } =
    read(given, { VAULT_PKI_LOAD_JOIN_SECRET_FILE: file }) ?? assert.fail('it is not joined');
  assert.deepEqual([secret, timeoutMs, seed], ['another secret of the test', 300_000, null]);
  const more = read({ ...given, seed: '7', joinTimeout: 1000 }, SECRET);
  assert.deepEqual([more?.timeoutMs, more?.seed], [1000, 7]);
});

describe('is refused:', () => {
  /** @type {[string, Record<string, unknown>, Record<string, string>, RegExp][]} */
  const TABLE = [
    [
      'no secret',
      { shard: '0/2' },
      {},
      /needs a secret in VAULT_PKI_LOAD_JOIN_SECRET or VAULT_PKI_LOAD_JOIN_SECRET_FILE/,
    ],
    [
      'a short secret',
      { shard: '0/2' },
      { VAULT_PKI_LOAD_JOIN_SECRET: 'fifteen letters' },
      /The secret in VAULT_PKI_LOAD_JOIN_SECRET has fewer than 16 characters/,
    ],
    [
      'a secret in no file',
      { shard: '0/2' },
      { VAULT_PKI_LOAD_JOIN_SECRET_FILE: '/nonexistent' },
      /VAULT_PKI_LOAD_JOIN_SECRET_FILE/,
    ],
    ['no index', { parts: 3 }, SECRET, /does not say which part this is/],
    ['no count', {}, PART, /does not say how many parts there are/],
    ['an index too high', { parts: 1 }, PART, /NOMAD_ALLOC_INDEX with 1 parts is "1\/1"/],
    ['a count that is none', {}, { ...PART, NOMAD_GROUP_COUNT: 'x' }, /NOMAD_GROUP_COUNT is "x"/],
    [
      'two counts',
      { shard: '0/3', parts: 4 },
      SECRET,
      /--shard K\/N says how many parts there are, and so does --parts/,
    ],
    [
      'port 0',
      { join: '10.0.0.5:0', shard: '0/2' },
      SECRET,
      /--join needs a port that all parts know, not 0/,
    ],
    ['no address', { join: 'x:y', shard: '0/2' }, SECRET, /--join is "x:y"/],
    ['--start-at', { shard: '0/2', 'start-at': '14:30' }, SECRET, /--start-at sets the time to start/],
    [
      '--parts alone',
      { join: null, parts: 3 },
      {},
      /--parts is for a run of several parts, but there is no --join/,
    ],
    [
      '--join-timeout alone',
      { join: null, joinTimeout: 5 },
      {},
      /--join-timeout is for a run of several parts/,
    ],
  ];
  for (const [what, given, env, message] of TABLE)
    test(what, () => void assert.throws(() => read(given, env), { message }));
});

describe('is refused before the other parts are awaited:', () => {
  const JOIN =
    'http --url http://127.0.0.1:1 --token none --join 127.0.0.1:9 --join-timeout 1h --shard 0/2'.split(' ');
  const env = SECRET;

  /** @type {[string, string[], RegExp][]} */
  const TABLE = [
    ['fewer connections than parts', ['--concurrency', '1'], /--concurrency/],
    ['the embedded server', ['--dev'], /--dev/],
    ['a search for nothing', ['--find-max-rate'], /--find-max-rate searches for .* no requirement/],
    ['a search without an end', ['--max-concurrency', '9', '--requests', '9'], /--requests ends each step/],
  ];
  for (const [what, args, message] of TABLE)
    test(what, async () => assertRefused(await run([...JOIN, ...args], { env }), message));

  test('--metrics on a port in use', async (t) => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const { port } = /** @type {AddressInfo} */ (server.address());
    const ended = await run([...JOIN, '--metrics', String(port)], { env });
    assertRefused(ended, /--metrics cannot listen on 127\.0\.0\.1:\d+: the port is in use/);
  });

  test('a file of its own that cannot be written', async (t) => {
    const path = scratch(t);
    mkdirSync(path('r-part-0.json'));
    const ended = await run([...JOIN, '--out', path('r.json')], { env });
    assertRefused(ended, /--out .*r-part-0\.json/);
  });

  test('a file of its own that is also another output, or the scenario', async (t) => {
    const path = scratch(t);
    const both = ['--out', path('r.json'), '--out', path('r-part-0.json')];
    assertRefused(await run([...JOIN, ...both], { env }), /--out \S+r-part-0\.json is given twice/);
    const text = JSON.stringify({ name: 's', mix: [{ operation: 'http', options: { token: 'none' } }] });
    const file = path('s-part-0.json', text);
    const args = [
      'run',
      file,
      ...JOIN.slice(1).filter((one, i, all) => ![one, all[i - 1]].includes('--token')),
    ];
    const ended = await run([...args, '--out', path('s.json')], { env });
    assertRefused(ended, /s-part-0\.json .* would be overwritten/);
    assert.equal(readFileSync(file, 'utf8'), text);
  });
});
