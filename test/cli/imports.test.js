/** What a command loads: the time until `--help` is there is mostly that. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const ROOT = new URL('../../', import.meta.url).href;

/** Says on descriptor 3 the address of every module that is loaded. */
const HOOKS = `
import { writeSync } from 'node:fs';
export async function load(url, context, next) {
  writeSync(3, url + '\\n');
  return next(url, context);
}`;
const REGISTER = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(HOOKS))});`;

/** Packages that only a run, a report of one or the embedded server needs. */
const HEAVY = ['pkijs', 'asn1js', 'hdr-histogram-js', 'zod', 'p-limit'];
const PACKAGES = HEAVY.map((name) => `node_modules/${name}/`);
const RUN = [
  'src/run.js',
  'src/engine/',
  'src/http/',
  'src/dev/',
  'src/campaigns/calibrate/',
  'src/vault/client.js',
  'src/result/requirements/',
  'src/result/runs/run-set.js',
  ...['thread', 'live-session', 'view', 'panel', 'terminal', 'files', 'metrics', 'otlp', 'result'].map(
    (name) => `src/live/${name}`,
  ),
];

/** @type {[string, string[], {needed: string[], without: string[]}][]} what, arguments, how addresses in the repository begin */
const COMMANDS = [
  [
    'the help of all commands: no operation',
    ['--help'],
    {
      needed: ['src/cli/main.js', 'src/operations/index.js'],
      without: [...PACKAGES, ...RUN, 'src/pki/', 'src/operations/issue', 'src/operations/ocsp'],
    },
  ],
  [
    'the help of ocsp: nothing of a run, and nothing that only issue needs',
    ['ocsp', '--help'],
    {
      needed: ['src/operations/ocsp.js'],
      without: [
        ...PACKAGES,
        ...RUN,
        'src/operations/issue',
        'src/pki/csr.js',
        'src/pki/certificate-check.js',
      ],
    },
  ],
  [
    'misuse of ocsp',
    ['ocsp', '--rate', 'fast'],
    { needed: ['src/plan/plan.js'], without: [...PACKAGES, ...RUN] },
  ],
  [
    'a run of ocsp: no code that reads results or scenarios, or builds CSRs',
    ['ocsp', '--dev', '--role', 'example-dot-com-ec', '--requests', '1', '--cold-start', '--quiet'],
    {
      needed: ['src/run.js', 'node_modules/undici/'],
      without: ['node_modules/zod/', 'node_modules/yaml/', 'node_modules/pkijs/', 'node_modules/asn1js/'],
    },
  ],
  [
    'the help of report: nothing that reads or shows a result',
    ['report', '--help'],
    { needed: ['src/cli/report.js'], without: [...PACKAGES, ...RUN, 'src/report/html', 'src/pki/'] },
  ],
  [
    'the help of run: nothing that reads a scenario or runs it',
    ['run', '--help'],
    {
      needed: ['src/cli/scenario.js'],
      without: [...PACKAGES, ...RUN, 'src/campaigns/scenario/', 'src/operations/issue'],
    },
  ],
  [
    'the help of schema: no schema code',
    ['schema', '--help'],
    {
      needed: ['src/cli/schema.js'],
      without: [
        ...PACKAGES,
        ...RUN,
        'src/result/declared.js',
        'src/campaigns/scenario/',
        'src/operations/issue',
      ],
    },
  ],
];

describe('modules loaded for', { concurrency: 2 }, () => {
  for (const [what, args, { needed, without }] of COMMANDS) {
    it(what, () => {
      const loaded = modulesOf(args);
      for (const name of needed)
        assert.ok(
          loaded.some((one) => one.startsWith(name)),
          `${name} is loaded`,
        );
      assert.deepEqual(
        loaded.filter((one) => without.some((name) => one.startsWith(name))),
        [],
      );
    });
  }
});

/** @param {string[]} args @returns {string[]} relative to the repository */
function modulesOf(args) {
  const { output } = spawnSync(process.execPath, ['--import', dataUrl(REGISTER), PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
  });
  return String(output[3])
    .split('\n')
    .filter((url) => url.startsWith(ROOT))
    .map((url) => url.slice(ROOT.length));
}

/** @param {string} source */
function dataUrl(source) {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
