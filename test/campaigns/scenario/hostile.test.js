// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of scenarios
/** Scenario files that are meant to hang, to exhaust memory, to crash, to deceive or to steal: each is refused, with its place. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { readScenario } from '../../../src/campaigns/scenario/read.js';
import { stepsOf } from '../../../src/campaigns/scenario/scenario-steps.js';
import { PkiLoadError } from '../../../src/common/errors.js';
import { redactToken } from '../../../src/common/sanitize.js';
import { runCli, scratch, startBatch } from '../../cli/support.js';
import { HEAD, readAndPlan } from './read.js';

const dryRun = startBatch({ after });

const DEEP = /^s\.yaml: The values are nested too deeply\. Use fewer levels\.$/;
const LONG = /^s\.yaml: The file exceeds 100000 characters\. To read a result, use report\.$/;
const bomb = (/** @type {string} */ open, /** @type {string} */ close) =>
  Array.from(
    { length: 9 },
    (_, i) => `a${i}: &a${i} ${open}${i === 0 ? 'x' : Array(9).fill(`*a${i - 1}`)}${close}`,
  );

const wide = Array.from({ length: 9000 }, (_, i) => `k${i}`).join();
const aliases = (/** @type {number} */ count) => Array(count).fill('*x').join(', ');

/** @type {[what: string, text: string, message: RegExp, env?: Record<string, string>][]} */
const HOSTILE = [
  ['100,000 levels of JSON', '['.repeat(100_001), LONG],
  [
    'JSON that is indented with tabs, with a mistake',
    '{\n\t"mix": [}\n}',
    /^s\.yaml:2:\d+: (?!This is no scenario)/,
  ],
  ['as many levels as fit', `${'['.repeat(49_990)}${']'.repeat(49_990)}`, DEEP],
  ['nested maps', `{"a":${'{"a":'.repeat(15_000)}1${'}'.repeat(15_001)}`, DEEP],
  ['nested YAML lists', '- '.repeat(49_000), DEEP],
  [
    '1,000 levels, which the parser accepts',
    `name: n\nmix: ${'['.repeat(1000)}${']'.repeat(1000)}\n`,
    /^s\.yaml:(?:1:1:)? The values are nested too deeply/,
  ],
  ['10 MB', `name: ${'x'.repeat(10_000_000)}`, LONG],
  ['an alias bomb of lists', bomb('[', ']').join('\n'), /^s\.yaml:7:9: With its aliases written out, this /],
  [
    'one map of 9,000 keys, 100 times',
    `${HEAD}x: &x {${wide}}\ny: [${aliases(100)}]\n`,
    /^s\.yaml:4:4: With its /,
  ],
  [
    'a text of 90,000 characters, 12 times',
    `x: &x ${'t'.repeat(90_000)}\ny: [${aliases(12)}]\n`,
    /^s\.yaml:2:4: With /,
  ],
  [
    '1,001 aliases, which would be searched for one another',
    `${HEAD}x: &x t\ny: [${aliases(1001)}]\n`,
    /^s\.yaml:4:4005: The file has more than 1000 aliases\. Write the values out/,
  ],
  [
    '1,000 aliases of one value',
    `${HEAD}x: &x t\ny: [${aliases(1000)}]\n`,
    /^s\.yaml:3:1: x: is not a valid key/,
  ],
  [
    'an alias without its anchor, after others',
    `${HEAD}x: &x t\ny: [*x, *z]\n`,
    /^s\.yaml:4:9: Unresolved alias/,
  ],
  [
    '50 levels by aliases',
    Array.from({ length: 51 }, (_, i) => `a${i}: &a${i} [${i === 0 ? 't' : `*a${i - 1}`}]`).join('\n'),
    /^s\.yaml:41:11: The values are nested too deeply, or/,
  ],
  [
    'aliases that contain each other',
    'a: &a [*b]\nb: &b [*a]\n',
    /^s\.yaml:1:8: Unresolved alias \(the anchor must be set before the alias\)\. Write/,
  ],
  [
    'an alias in itself',
    'name: n\nmix: &a [*a, *a, *a]\n',
    /^s\.yaml:2:10: The values are nested too deeply, or/,
  ],
  ['12,000 keys', Array.from({ length: 12_000 }, (_, i) => `k${i}:`).join('\n'), /is not a valid key/],
  [
    'a number of 90,000 digits',
    `${HEAD}load: {rate: ${'9'.repeat(90_000)}}\n`,
    /load\.rate: is Infinity; must be number/,
  ],
  ['a huge weight', 'name: n\nmix: [{operation: issue, weight: 1e308}]\n', /weight: is 1e\+308; must be <=/],
  [
    'a huge seed',
    `${HEAD}load: {seed: 99999999999999999999}\n`,
    /3:14: load\.seed: is "100000000000000000000", /,
  ],
  ['__proto__', `${HEAD}load: {__proto__: {rate: 5}}\n`, /^s\.yaml:3:8: load\.__proto__: cannot be a key\./],
  [
    '__proto__ in JSON options',
    '{"name": "n", "mix": [{"operation": "issue", "options": {"__proto__": {"cn": "x"}}}]}',
    /mix\[0\]\.options\.__proto__: cannot be a key\./,
  ],
  [
    'circular variables',
    `env: ['A=\${B}', 'B=\${A}']\n${HEAD}target: {namespace: '\${A}'}\n`,
    /^s\.yaml:1:7: env\[0\] \(\$\{B\}\): the default of A cannot refer to a variable\. Write its value\.$/,
  ],
  [
    'a variable in all places',
    `env: [A]\n${HEAD}description: '${'${A}'.repeat(20_000)}'\n`,
    /description \(.*\): the variables have more than 1000000 characters\./,
    { A: 'x'.repeat(10_000) },
  ],
  [
    'unterminated references',
    `${HEAD}description: '${'${'.repeat(40_000)}'\n`,
    /has 80000 characters; the limit is/,
  ],
  [
    'an address of slashes',
    `${HEAD}target: {url: 'http://x${'/'.repeat(90_000)}x'}\n`,
    /3:15: target\.url: has 9\d+ ch/,
  ],
  [
    'the longest address of slashes',
    `${HEAD}target: {mount: 'x${'/'.repeat(19_000)}x'}\n`,
    /target\.mount: /,
  ],
  ['the longest requirement', `${HEAD}require: 'p${'9'.repeat(19_000)}<'\n`, /3:10: require: Requirement "/],
  [
    'spaces for a number',
    `${HEAD}load: {duration: '1${' '.repeat(19_000)}x'}\n`,
    /load\.duration: is "1 +", which is/,
  ],
  [
    'an escape sequence in a name',
    'name: "n\\e[2J"\nmix: [{operation: issue}]\n',
    /1:7: name: contains the .* \\u\{1b\}\./,
  ],
  [
    'a C1 control',
    `${HEAD}description: "a\u009b31mb"\n`,
    /description: contains the invisible character \\u\{9b\}\./,
  ],
  [
    'right-to-left text',
    `${HEAD}out: ["a\u202enosj.json"]\n`,
    /out\[0\]: contains .* \\u\{202e\}\. Remove it\.$/,
  ],
  [
    'an escape in a key',
    `${HEAD}"\\e[31mload": 1\n`,
    /^s\.yaml:3:1: "\\u001b\[31mload": is not a valid key\./,
  ],
  ['a C1 control in a key', `${HEAD}"a\u009bb": 1\n`, /^s\.yaml:3:1: "a\\u\{9b\}b": is not a valid key\./],
  [
    'an escape in an operation',
    'name: n\nmix: [{operation: "\\e]0;x\\a"}]\n',
    /operation: contains .* \\u\{1b\}\./,
  ],
  [
    'an escape in a variable',
    `env: [A]\n${HEAD}target: {namespace: '\${A}'}\n`,
    /target\.namespace \(\$\{A\}\): contains the invisible character \\u\{1b\}\./,
    { A: '\u001b[2J' },
  ],
];

describe('rejected quickly, with a message:', () => {
  for (const [what, text, message, env] of HOSTILE) {
    test(what, { timeout: 20_000 }, () =>
      assert.rejects(
        () => readAndPlan(text, { env, allowEnv: Object.keys(env ?? {}) }),
        (error) => {
          assert.ok(error instanceof PkiLoadError, String(/** @type {Error} */ (error).stack).slice(0, 2000));
          assert.equal(error.code, 'bad_scenario');
          assert.match(error.full, message);
          assert.doesNotMatch(error.full, /[^\P{Cc}]|\p{Bidi_Control}/u);
          assert.ok(error.full.length < 2000);
          return true;
        },
      ),
    );
  }
});

test('escapes control characters in a file name', async () => {
  await assert.rejects(
    () => readAndPlan('name: n\n', { file: 'a\u001b[2J\u202e.yaml' }),
    /^PkiLoadError: a\\u\{1b\}\[2J\\u\{202e\}\.yaml:1:1: /,
  );
});

test('a device as a scenario is rejected', async () => {
  const { code, stderr } = await dryRun(['run', '/dev/zero', '--dry-run']);
  assert.deepEqual(
    [code, /\/dev\/zero is a device, a pipe, a socket or a kernel file\./.test(stderr)],
    [1, true],
  );
});

for (const [place, text] of [
  ['$schema', '$schema: {toString: [1]}\n'],
  ['env\\[0\\]', 'env: [{toString: 1}]\n'],
  ['targets\\[0\\]\\.name', 'targets: [{name: {toString: 1, valueOf: 2}}]\n'],
]) {
  test(`an object that redefines toString is rejected at its place: ${place}`, async () => {
    const message = new RegExp(`^s\\.yaml:\\d+:\\d+: ${place.replace('$', '\\$')}: must be string`);
    await assert.rejects(() => readScenario(`${text}${HEAD}`, 's.yaml', {}), {
      code: 'bad_scenario',
      message,
    });
  });
}

describe('the environment', () => {
  const TEXT = `env: [HOST=h, RATE]\n${HEAD}load: {rate: '\${RATE}'}\ntargets:\n  - {name: a, url: 'http://\${HOST}', token-env: SOME_KEY}\n  - {name: b, url: 'http://\${HOST}'}\n`;

  test('lists its variables, with the places of their values', async () => {
    const { reads } = await readScenario(TEXT, 's.yaml', { RATE: '5' });
    assert.deepEqual(
      [...reads],
      [
        ['RATE', ['load.rate']],
        ['HOST', ['targets[0].url', 'targets[1].url']],
        ['SOME_KEY', ['the token']],
      ],
    );
  });

  test('the files that it names are listed, with the options that name them', async () => {
    const mix =
      'mix:\n  - {operation: http, options: {method: POST, path: /v1/sys/x, body-file: b.json}}\n  - {operation: ocsp, options: {cert: c.pem}}\n';
    const { reads } = await readScenario(`name: x\n${mix}target: {ca-cert: c.pem}\n`, 's.yaml', {});
    assert.deepEqual(
      [...reads],
      [
        ['file b.json', ['mix[0].options.body-file']],
        ['file c.pem', ['mix[1].options.cert', 'target.ca-cert']],
      ],
    );
  });

  test("does not send another program's token to a target, unless the user allows it", async (t) => {
    t.after(() => delete process.env.SOME_KEY);
    process.env.SOME_KEY = 'not-yours';
    const scenario = await readScenario(TEXT, 's.yaml', { RATE: '5' });
    await assert.rejects(
      () => stepsOf(scenario, {}, { pauseMs: 0 }),
      /^PkiLoadError: s\.yaml:6:49: targets\[0\]\.token-env: would send SOME_KEY to the target as a token/,
    );
    await assert.rejects(() => stepsOf(scenario, {}, { pauseMs: 0, allowEnv: ['OTHER'] }), /SOME_KEY/);
    const allowed = { allowEnv: ['SOME_KEY'], allowUrl: ['http://h'] };
    const [first] = await stepsOf(scenario, {}, { pauseMs: 0, ...allowed });
    assert.equal(first.token, 'not-yours');
    await stepsOf(scenario, { dev: true }, { pauseMs: 0 });
  });

  /** @type {[title: string, scenario: string, place: string, origin: string][]} */
  const ADDRESSES = [
    ['a target', 'target: {url: "https://h.example:8200"}', 'target.url', 'https://h.example:8200'],
    [
      'a name like loopback',
      'target: {url: "http://127.0.0.1.h.example"}',
      'target.url',
      'http://127.0.0.1.h.example',
    ],
    [
      'the second of two targets',
      'targets: [{name: a, url: "http://[::1]:1"}, {name: b, url: "http://h.example"}]',
      'targets\\[1\\].url',
      'http://h.example',
    ],
    [
      'a responder',
      'runs: [{name: r, mix: [{operation: ocsp, options: {cert: c.pem, ocsp-url: "http://h.example/o"}}]}]',
      'runs\\[0\\].mix\\[0\\].options.ocsp-url',
      'http://h.example',
    ],
  ];
  for (const [title, text, place, origin] of ADDRESSES) {
    test(`an address that only the scenario names is rejected, unless the user allows it: ${title}`, async (t) => {
      t.after(() => delete process.env.VAULT_ADDR);
      const mix = text.startsWith('runs') ? 'name: x\n' : HEAD;
      const scenario = await readScenario(`${mix}${text}\n`, 's.yaml', {});
      const local = text.includes('[::1]:1') ? ['http://[::1]:1'] : [];
      const message = new RegExp(`: ${place}: is ${origin}, an address .*--allow-url ${origin}\\.$`);
      await assert.rejects(
        () => stepsOf(scenario, {}, { pauseMs: 0, allowUrl: ['http://other.example', ...local] }),
        (/** @type {any} */ error) => message.test(error.full),
      );
      const allowUrl = [`${origin}/path`, ...local];
      await stepsOf(scenario, {}, { pauseMs: 0, allowUrl });
      // Not sent to: the embedded server replaces the targets, but not other responders.
      const dev = stepsOf(scenario, { dev: true }, { pauseMs: 0 });
      if (place.endsWith('ocsp-url'))
        await assert.rejects(dev, (/** @type {any} */ error) => message.test(error.full));
      else await dev;
      process.env.VAULT_ADDR = origin;
      await stepsOf(scenario, {}, { pauseMs: 0, allowUrl: allowUrl.slice(1) });
    });
  }

  test('loopback is rejected if an address of the user is on another machine', async (t) => {
    t.after(() => delete process.env.VAULT_ADDR);
    const scenario = await readScenario(`${HEAD}target: {url: 'http://127.0.0.1:9'}\n`, 's.yaml', {});
    const steps = (/** @type {object} */ settings = {}) => stepsOf(scenario, {}, { pauseMs: 0, ...settings });
    await steps();
    await assert.rejects(() => steps({ allowUrl: ['http://h.example'] }), /is http:\/\/127\.0\.0\.1:9, an/);
    for (const address of ['https://v.example:8200', 'v.example:8200', 'nonsense']) {
      process.env.VAULT_ADDR = address;
      await assert.rejects(steps, /target\.url: is http:\/\/127\.0\.0\.1:9, an address that only/);
    }
    await steps({ allowUrl: ['http://127.0.0.1:9'] });
    process.env.VAULT_ADDR = 'http://localhost:8200';
    await steps();
    // Without an address in the scenario, the default of the tool counts as that of the user.
    delete process.env.VAULT_ADDR;
    const plain = await readScenario(HEAD, 's.yaml', {});
    await stepsOf(plain, {}, { pauseMs: 0, allowUrl: ['http://h.example'] });
  });

  const HARMLESS = ['5', '1_000/h', '1h30m', '.5', '99.9', 'true', 'false', ' 20/s '];
  HARMLESS.push('http://127.0.0.1:8200', 'https://v.example:8200/');
  const OTHERS = [
    'postgres://u:p@127.0.0.1/db',
    'http://u:p@127.0.0.1',
    'http://127.0.0.1/T0/B0/x',
    'http://h.example',
  ];
  OTHERS.push('http://127.0.0.1?x', 'hunter2', 'Authorization=Bearer x', '12345678901234567', 'dead10cc');
  for (const value of [...HARMLESS, ...OTHERS]) {
    const isAllowed = HARMLESS.includes(value);
    test(`a variable may${isAllowed ? '' : ' not'} be ${value}`, async () => {
      const mayReach = (/** @type {string} */ url) => /127\.0\.0\.1|v\.example/.test(new URL(url).host);
      const text = `env: [DB_PASS=x]\n${HEAD}description: '\${DB_PASS}'\n`;
      const read = (/** @type {string[]} */ allowEnv) =>
        readScenario(text, 's.yaml', { DB_PASS: value }, { allowEnv, mayReach });
      assert.equal((await read(['DB_PASS'])).description, value);
      if (isAllowed) return assert.equal((await read([])).description, value);
      await assert.rejects(read([]), (/** @type {any} */ error) => {
        assert.match(error.full, /DB_PASS is not a number .* add --allow-env DB_PASS\.$/);
        return !error.full.includes(value);
      });
    });
  }

  test('a variable must not be the token of token-env', async () => {
    const text = `env: [VAULT_T2]\n${HEAD}description: '\${VAULT_T2}'\ntarget: {token-env: VAULT_T2}\n`;
    const read = readScenario(text, 's.yaml', { VAULT_T2: 'a1b2c3d4-other' }, { allowEnv: ['VAULT_T2'] });
    await assert.rejects(read, /VAULT_T2 contains the token in use/);
  });

  test('a variable must not be a token in use, not even a short one', async () => {
    const text = `env: [A]\n${HEAD}description: 'x\${A}'\n`;
    for (const token of ['5f6c9c5e-long', '77']) {
      redactToken(token);
      await assert.rejects(
        () => readScenario(text, 's.yaml', { A: token }, { allowEnv: ['A'] }),
        (/** @type {any} */ { message }) =>
          /A contains the token in use/.test(message) && !message.includes(token),
      );
    }
    await assert.rejects(
      () => readScenario(`${HEAD}# 5f6c9c5e-long\n`, 's.yaml', {}),
      /3:3: This looks like the token in use/,
    );
  });

  test('the token of token-env is found in names, in keys and behind escapes of YAML', async () => {
    const [token, escaped] = ['T2-secret-4711', '\\x542-secret-4711'];
    for (const text of [
      `name: n\nmix: [{operation: issue, name: ${token}}]\ntarget: {token-env: VAULT_T2}\n`,
      `name: n\nmix: [{operation: issue, name: "${escaped}"}]\ntarget: {token-env: VAULT_T2}\n`,
      `name: n\nmix: [{operation: issue}]\n"${escaped}": 1\ntargets: [{name: t, token-env: VAULT_T2}]\n`,
    ])
      await assert.rejects(
        () => readScenario(text, 's.yaml', { VAULT_T2: token }),
        (/** @type {any} */ { message }) =>
          /(?:contains|looks like) the token in use: remove it/.test(message) && !message.includes(token),
      );
  });

  test('an address is not a token: it would be hidden in the dry run', async () => {
    for (const name of ['VAULT_ADDR', 'BAO_NAMESPACE', 'VAULT_CLIENT_KEY'])
      await assert.rejects(
        () => readScenario(`${HEAD}target: {token-env: ${name}}\n`, 's.yaml', { [name]: 'http://h.example' }),
        /token-env: is "\w+"; must be the name of an environment variable with a token/,
      );
  });

  test('a namespace that cannot be in a header is rejected, with its place', async () => {
    for (const namespace of ['caf\u00e9', 'a b', '\u010d\u010a'])
      await assert.rejects(
        () => readScenario(`${HEAD}target: {namespace: '${namespace}'}\n`, 's.yaml', {}),
        /3:21: target\.namespace: contains white space or a character that is not allowed/,
      );
  });

  test('a small file with aliases does not make large runs, or many', async () => {
    const names = (/** @type {string} */ key, /** @type {number} */ count, more = '') =>
      `${key}: [${Array.from({ length: count }, (_, i) => `{name: ${key[0]}${i}${more}}`)}]\n`;
    const texts = Array.from({ length: 50 }, (_, i) => `p${i + 1}<1s`);
    const mix = Array.from({ length: 40 }, (_, i) => {
      return `{operation: health, name: m${i}, require: ${i === 0 ? `&r ['${texts.join("', '")}']` : '*r'}}`;
    });
    const many = `name: n\nmix: [${mix}]\nload: {rate: 1}\n${names('runs', 90)}`;
    await assert.rejects(
      readScenario(many, 's.yaml', {}),
      /runs\[0\]: r0 has 2000 requirements; the limit is 200/,
    );
    const steps = Array.from(
      { length: 11 },
      (_, i) => `{name: s${i}, steps: {from: 1, to: 1000, by: 1, every: 1s}}`,
    );
    await assert.rejects(
      readScenario(`${HEAD}stages: [${steps}]\n`, 's.yaml', {}),
      /stages: have 11000 levels; the limit is 10000/,
    );
    const wide = await readScenario(
      `${HEAD}load: {rate: 1}\n${names('runs', 90)}${names('targets', 50)}`,
      's.yaml',
      {},
    );
    await assert.rejects(() => stepsOf(wide, {}, { pauseMs: 0 }), {
      code: 'scenario_too_large',
      message: /^The scenario is too large: 90 runs on 50 targets, /,
    });
    // Each of the 1,225 pairs of targets is compared, for all operations and for each of the four.
    const four = `[${Array.from({ length: 4 }, (_, i) => `{operation: health, name: m${i}}`)}]`;
    const compared = await readScenario(
      `name: n\nmix: ${four}\nload: {rate: 1}\n${names('targets', 50)}`,
      's.yaml',
      {},
    );
    await assert.rejects(() => stepsOf(compared, {}, { pauseMs: 0 }), { code: 'scenario_too_large' });
  });

  test('places of a variable are counted in linear time', { timeout: 60_000 }, async () => {
    const list = `&a [${Array(1000).fill("'${A}'")}]`;
    const text = `env: [A]\n${HEAD}x: ${list}\ny: [${Array(99).fill('*a')}]\n`;
    await assert.rejects(readScenario(text, 's.yaml', { A: '1' }), /x: is not a valid key/);
  });

  test('names of properties of every object are not variables', async () => {
    for (const name of ['constructor', 'toString', '__proto__']) {
      const text = `env: [${name}]\n${HEAD}description: 'x\${${name}}'\n`;
      await assert.rejects(readScenario(text, 's.yaml', { ...process.env }), { code: 'bad_scenario' }, name);
    }
    const text = `${HEAD}target: {token-env: {toString: 1}}\n`;
    await assert.rejects(readScenario(text, 's.yaml', {}), { code: 'bad_scenario' });
  });

  test('devices, pipes and system files are rejected, even through links', async (t) => {
    if (process.platform !== 'linux') return t.skip('only Linux has /proc');
    const path = scratch(t);
    execFileSync('mkfifo', [path('fifo')]);
    symlinkSync('/dev', path('folder'));
    symlinkSync('/dev/stdin', path('link'));
    symlinkSync(path('link'), path('links'));
    const files = [
      '/proc/self/environ',
      '/dev/zero',
      '/sys/kernel/uevent_seqnum',
      path('fifo'),
      path('links'),
      `${path('folder')}/stdin`,
    ];
    for (const file of files) {
      for (const text of [
        `${HEAD}target: {ca-cert: '${file}'}\n`,
        `name: n\nmix: [{operation: http, options: {method: POST, body-file: '${file}'}}]\n`,
      ])
        await assert.rejects(
          () => readScenario(text, 's.yaml', {}),
          /(?:ca-cert|body-file): is a device, a pipe or a system file\./,
        );
    }
    const fine = path('fine.pem', 'x');
    symlinkSync(fine, path('to-fine'));
    for (const file of [fine, path('to-fine'), path('none')])
      await readScenario(`${HEAD}target: {ca-cert: '${file}'}\n`, 's.yaml', {});
  });

  for (const name of [
    'VAULT_PKI_LOAD_JOIN_SECRET',
    'VAULT_PROXY_ADDR',
    'VAULT_LICENSE',
    'BAO_TOKENS',
    'TOKEN',
  ])
    test(`${name} is no Vault token`, async () => {
      const scenario = await readScenario(`${HEAD}target: {token-env: ${name}}\n`, 's.yaml', {});
      await assert.rejects(stepsOf(scenario, {}, { pauseMs: 0 }), {
        code: 'bad_scenario',
        message: /would send \w+ to the target as a token, but its name is not like VAULT_TOKEN/,
        remedy: `To allow it, add --allow-env ${name}.`,
      });
    });

  for (const name of ['VAULT_TOKEN_A', 'BAO_TOKEN', 'OPENBAO_C_TOKEN']) {
    test(`${name} is a Vault token`, async (t) => {
      t.after(() => delete process.env[name]);
      process.env[name] = 'mine';
      const scenario = await readScenario(`${HEAD}target: {token-env: ${name}}\n`, 's.yaml', {});
      assert.equal((await stepsOf(scenario, {}, { pauseMs: 0 }))[0].token, 'mine');
    });
  }

  test('the command rejects such a token, and a dry run lists all variables', async (t) => {
    const file = scratch(t)(
      's.yaml',
      `env: [N=5]\n${HEAD}load: {rate: '\${N}'}\ntarget: {token-env: AWS_SECRET_ACCESS_KEY}\n`,
    );
    const env = { AWS_SECRET_ACCESS_KEY: 'their-secret' };
    const refused = await dryRun(['run', file, '--dry-run'], { env });
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /s\.yaml:5:21: target\.token-env: would send .* --allow-env AWS_SECRET_ACCESS_KEY\.\n$/,
    );
    const allowed = await dryRun(['run', file, '--dry-run', '--allow-env', 'AWS_SECRET_ACCESS_KEY'], { env });
    assert.deepEqual([allowed.code, allowed.stderr], [0, '']);
    assert.match(allowed.stdout, /^Uses {10}N: load\.rate\n {14}AWS_SECRET_ACCESS_KEY: the token$/m);
    assert.doesNotMatch(allowed.stdout, /their-secret/);
    const run = await runCli(['run', file, '--dev', '--duration', '0.1', '--cold-start'], { env });
    assert.match(run.stderr, /^The scenario uses N: load\.rate; AWS_SECRET_ACCESS_KEY: the token\.\n/);
  });
});
