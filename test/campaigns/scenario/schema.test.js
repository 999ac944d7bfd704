import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { SHAPES } from '../../../src/campaigns/scenario/stages.js';
import { schemaOf } from '../../../src/cli/schema.js';
import { loadOperation, operations } from '../../../src/operations/index.js';
import { runCli } from '../../cli/support.js';
import { HEAD, readAndPlan } from './read.js';
import { compileForText } from './schema-check.js';

const schema = await schemaOf('scenario');
const check = compileForText(schema);

test('has an ID and a dialect', () => {
  assert.equal(schema.$id, 'vault-pki-load/scenario/1');
  assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
});

test('is printed by the schema command', async () => {
  const { code, stdout, stderr } = await runCli(['schema', 'scenario']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), schema);
});

test('contains every operation with all its options, and every shape of a stage', async () => {
  const { $defs, properties } = /** @type {any} */ (schema);
  for (const name of Object.keys(operations)) {
    const { options } = await loadOperation(name);
    const known = $defs[`options-of-${name}`].properties;
    for (const option of Object.keys(options))
      assert.ok(known[option].description !== undefined, `${name} ${option}`);
    assert.ok(properties.mix.items.properties.operation.anyOf[0].enum.includes(name));
  }
  for (const shape of Object.keys(SHAPES)) {
    assert.equal(properties.stages.items.properties[shape].type, 'object');
  }
});

/** @type {[string, string, Record<string, string>?][]} what schema and reader take alike */
const GOOD = [
  ['the minimum', HEAD],
  ['JSON with tabs', '{\n\t"name": "n",\n\t"mix": [{"operation": "issue"}]\n}\n'],
  ['a byte order mark', `\ufeff${HEAD}`],
  ['the schema named for editors', `$schema: scenario.schema.json\n${HEAD}`],
  ['numeric amounts', `${HEAD}load: {rate: 20, duration: 10, timeout_ms: 500}\nrepeat: 3\npause: 2\n`],
  ['text amounts', `${HEAD}load: {rate: 1000/h, duration: 1h30m, warmup: 500ms, concurrency: '1_000'}\n`],
  ['a single requirement without a list', `${HEAD}require: p99<200ms\n`],
  ['a single output without a list', `${HEAD}out: a.json\n`],
  ['a list for an option', 'name: n\nmix: [{operation: issue, options: {alt-names: a, ip-sans: [::1]}}]\n'],
  ['a version of HTTP without quotes', 'name: n\nload: {http: 1.1}\nmix: [{operation: ocsp}]\n'],
  ['a choice that looks like a number', 'name: n\nmix: [{operation: kv-write, options: {kv-version: 2}}]\n'],
  ['a list of numbers', 'name: n\nmix: [{operation: http, options: {status: [200, 204]}}]\n'],
  ['a number instead of a list', 'name: n\nmix: [{operation: http, options: {status: 403}}]\n'],
  ['aliases', 'name: n\nload: &l {rate: 5}\nmix: [{operation: issue}]\nruns: [{name: r, load: *l}]\n'],
  ['a setup', `${HEAD}setup: true\n`],
  [
    'a setup in full',
    `${HEAD}setup: {name: load, ca-key-type: ec, auto-rebuild: true, with: [kv, approle], keep: true}\n`,
  ],
  ['a setup of one engine', `${HEAD}setup: {with: transit}\n`],
  ['several targets', `${HEAD}targets: [{name: a, url: 'http://a'}, {name: b, token-env: B}]\n`],
  [
    'a mix for each run',
    'name: n\nruns: [{name: a, mix: [{operation: crl}]}, {name: b, mix: [{operation: health}]}]\n',
  ],
  [
    'every shape',
    `${HEAD}stages:
  - hold: {rate: 5, duration: 1s}
  - name: rest
    hold: {rate: 0, duration: 1s}
  - soak: {rate: 5/min, duration: 1h}
  - ramp: {from: 0, to: 100/s, duration: 1m}
  - steps: {from: 10, to: 50, by: 10, every: 10s}
    require: ['p99<1s']
  - burst: {base: 0, peak: 50, every: 10s, for: 2s, duration: 1m}
  - spike: {base: 5, peak: 500, before: 0, for: 1s, after: 10s}
`,
  ],
  [
    'stages in flight',
    `${HEAD}load: {model: closed}\nstages: [{hold: {concurrency: 5, duration: 1s}}, {steps: {from: 1, to: 9, by: 4, every: 1s}}]\n`,
  ],
  [
    'stages in flight, with underscores in numbers',
    `${HEAD}load: {model: closed}\nstages: [{hold: {concurrency: '1_000', duration: 1s}}, {ramp: {from: '1_000', to: '2_000', duration: 1s}}]\n`,
  ],
  ['a ramp from zero with a unit', `${HEAD}stages: [{ramp: {from: 0/min, to: 5, duration: 1s}}]\n`],
  [
    'variables for all kinds',
    `env: [URL, RATE, N=2, YES=true, KIND=poisson]
name: n
target: {url: '\${URL}:8200', tls-skip-verify: '\${YES}'}
load: {rate: '\${RATE}/s', concurrency: '\${N}', arrivals: '\${KIND}'}
mix: [{operation: issue, weight: '\${N}', options: {cn: '\${N}.example.com', sign: '\${YES}'}}]
repeat: \${N}
`,
    { URL: 'http://127.0.0.1', RATE: '5' },
  ],
  [
    'a variable for an operation with options',
    `env: [OP]\nname: n\nmix: [{operation: '\${OP}', options: {cn: a}}]\n`,
    { OP: 'issue' },
  ],
  ['an escaped variable', `${HEAD}description: costs $\${A}\n`],
];

for (const [what, text, env] of GOOD) {
  test(`schema and reader accept ${what}`, async () => {
    assert.equal(check(text), null);
    await readAndPlan(text, { env, allowEnv: Object.keys(env ?? {}) });
  });
}

const EXAMPLES = new URL('../../../examples/', import.meta.url);
const files = readdirSync(EXAMPLES).filter((name) => /\.ya?ml$/.test(name));

for (const name of files) {
  test(`schema and reader accept examples/${name}`, async () => {
    const text = readFileSync(new URL(name, EXAMPLES), 'utf8');
    assert.equal(check(text), null);
    const { env: declared = [] } = parse(text);
    const unset = declared.filter((/** @type {string} */ one) => !one.includes('='));
    const env = Object.fromEntries(unset.map((/** @type {string} */ one) => [one, 'http://127.0.0.1:8200']));
    await readAndPlan(text, { env, allowEnv: unset, file: name });
  });
}
