/** `report`: saved results in, reports out; what is wrong with files and words is one line. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { reporters } from '../../src/report/index.js';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { runOf, runsOf, slower, TEN } from '../result/runs.js';
import { openLoad, sampleResult, spread } from '../result/sample.js';
import { syntheticParts } from '../synthetic-run.js';
import { assertRefused, runCli, scratch, startBatch } from './support.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const result = sampleResult([{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }]);
const json = `${JSON.stringify(result, null, 2)}\n`;

const run = startBatch({ after });

/** @type {(() => void)[]} */
const cleanups = [];
after(() => {
  for (const cleanup of cleanups) cleanup();
});
const path = scratch({ after: (fn) => cleanups.push(fn) });

/** @param {string} command of a shell, with `$CLI` for the program @param {string} folder */
async function shell(command, folder) {
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: '/nonexistent', CLI: `node ${ROOT}bin/vault-pki-load.js` },
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: /** @type {number | null} */ (await closed), stdout, stderr };
}

describe('report', { concurrency: 2 }, () => {
  test('one result: text on standard output, every format in a file, exit code 0', async () => {
    const outs = Object.values(reporters).map(({ extension }) => path(`all${extension}`));
    const args = outs.flatMap((out) => ['--out', out]);
    const ended = await runCli(['report', path('r.json', json), ...args]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stderr, '');
    assert.match(ended.stdout, /400/);
    for (const out of outs) assert.ok(readFileSync(out, 'utf8').length > 0, out);
    assert.equal(readFileSync(path('all.json'), 'utf8'), json, 'JSON is what it was');
  });

  test('a result with a missed requirement: still exit code 0', async () => {
    const bad = {
      ...result,
      requirements: [
        { text: 'p99<1ms', verdict: 'not met', actual: 89, limit: 1, unit: 'ms', reason: 'p99 is 89 ms.' },
      ],
    };
    const { code, stdout } = await run(['report', path('bad.json', JSON.stringify(bad))]);
    assert.equal(code, 0);
    assert.match(stdout, /not met/);
  });

  test('several results: one set, including the runs of sets', async () => {
    const [one, two, three, four] = [0, 1, 2, 3].map((minute) => runOf(1 + minute / 100, minute));
    const set = JSON.stringify(createRunSet('before', [three, four]));
    const files = [
      path('run-1.json', JSON.stringify(one)),
      path('run-2.json', JSON.stringify(two)),
      path('run-set.json', set),
    ];
    const { code, stdout, stderr } = await run(['report', ...files, '--format', 'json']);
    assert.equal(code, 0, stderr);
    const { schema, name, runs, summary } = JSON.parse(stdout);
    assert.deepEqual([schema, name, runs.length], ['vault-pki-load/run-set/1', 'run', 4]);
    assert.deepEqual(runs[3], four);
    assert.deepEqual([summary.used.length, summary.warnings], [4, []]);
  });

  test('planned runs of a set that did not take place are missing also among other runs', async () => {
    const [one, two, three] = [0, 1, 2].map((minute) => runOf(1 + minute / 100, minute));
    const files = [
      path('cut-1.json', JSON.stringify(createRunSet('cut', [one], 5))),
      path('cut-2.json', JSON.stringify(createRunSet('cut', [two], 3))),
      path('cut-3.json', JSON.stringify(three)),
    ];
    const { code, stdout, stderr } = await run(['report', ...files, '--format', 'junit']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /3 of 9 runs completed/);
  });

  test('results with different settings: a warning with the differences', async () => {
    const load = openLoad({ ratePerSecond: 50 });
    const files = [
      path('monday.json', JSON.stringify(runOf(1, 0))),
      path('tuesday.json', JSON.stringify(runOf(1.1, 1, { load }))),
    ];
    const { code, stdout, stderr } = await run(['report', ...files]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /open loop at 20\/s, 20 s; open\s+loop\s+at 50\/s, 20 s\n/);
    assert.match(stdout, /^ {2}The runs differ in load\.ratePerSecond/m);
  });

  test('standard input and pipes, each read once', {
    skip: process.platform === 'win32',
  }, async () => {
    const folder = path('');
    path('piped.json', json);
    path('other.json', JSON.stringify(runOf(1, 5)));
    const piped = await shell('cat piped.json | $CLI report - --format json --out copy.json', folder);
    assert.deepEqual([piped.code, piped.stdout], [0, json], piped.stderr);
    assert.equal(readFileSync(path('copy.json'), 'utf8'), json);
    const fifo = await shell('mkfifo p; cat piped.json >p & $CLI report p other.json --format json', folder);
    assert.equal(fifo.code, 0, fifo.stderr);
    assert.equal(JSON.parse(fifo.stdout).runs.length, 2);
  });

  test('options may precede the files, and a file may have the name of a command', async () => {
    path('issue', json);
    const ended = await shell('$CLI report --format json issue', path(''));
    assert.deepEqual([ended.code, ended.stdout], [0, json], ended.stderr);
  });
});

describe('report rejects, in one line:', () => {
  const good = path('good.json', json);
  const [part] = syntheticParts({ load: { ratePerSecond: 20, durationMs: 2000 } }, [1, 1]);
  const groups = [
    { name: 'old', runs: runsOf(TEN, 0) },
    { name: 'new', runs: runsOf(slower(1.1), 1) },
  ];
  const comparison = path('comparison.json', JSON.stringify(compareGroups(groups, { resamples: 10 })));

  /** @type {[string, string[], RegExp][]} */
  const TABLE = [
    ['a missing file', [path('gone.json')], /gone\.json was not found\. Check the path\./],
    [
      '--out over an input',
      [good, '--out', good],
      /--out .*good\.json is also an input or --keep file of this command, and/,
    ],
    ['not a result', [path('no-result.json', '{}')], /no-result\.json was not written by vault-pki-load/],
    [
      'a comparison among runs',
      [good, comparison],
      /comparison\.json is a comparison, not the result of a run\. Pass only results of runs, or report this file on its own\./,
    ],
    ['the same run twice', [good, good], /good\.json is given twice\. Pass each run only once\.$/m],
    ['a copy of a run', [good, path('copy.json', json)], /good\.json and .*copy\.json are the same run\./],
    ['part of a plan', [good, path('part.json', JSON.stringify(part))], /is part 0 of 2 of .* merge FILE/],
  ];
  for (const [what, args, message] of TABLE) {
    test(what, async () => assertRefused(await run(['report', ...args]), message));
  }

  test('rejects a set of runs in a format for one result, before writing', async () => {
    const outs = [path('set.json'), path('set.hgrm')];
    const files = [path('s-1.json', json), path('s-2.json', json)];
    const refused = await run(['report', ...files, '--out', outs[0], '--out', outs[1]]);
    assertRefused(refused, /--out .*set\.hgrm: a set of runs cannot be written as \.hgrm/);
    assert.equal(existsSync(outs[0]), false);
    assertRefused(
      await run(['report', ...files, '--format', 'hgrm']),
      /--format hgrm: .* cannot be written as \.hgrm/,
    );
  });
});
