/** What a machine may do to a run: stop the process, set the clock, leave one core or few open files. Its books balance, its verdict is right. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EC, rightResult, runCli, scratch, startCli } from '../cli/support.js';

const OCSP = ['ocsp', '--dev', ...EC, '--format', 'json'];
const STOP_MS = 3000;
const HOUR_MS = 3_600_000;

/** @param {string} stdout */
function judged(stdout) {
  const { totals, measurement, latencyMs } = rightResult(stdout);
  assert.equal(totals.sent + totals.dropped + totals.neverSent, totals.planned);
  return { totals, measurement, latencyMs, codes: measurement.reasons.map(({ code }) => code) };
}

describe('a process that is stopped for 3 s', { concurrency: 2 }, () => {
  for (const [what, args] of /** @type {[string, string[]][]} */ ([
    ['sends late', ['--rate', '100/s', '--duration', '6s']],
    ['sends late from two threads', ['--rate', '100/s', '--duration', '6s', '--threads', '2']],
    ['drops', ['--rate', '100/s', '--duration', '6s', '--overflow', 'drop', '--concurrency', '2']],
  ])) {
    test(`${what}, and the measurement is invalid`, async () => {
      const cli = startCli([...OCSP, ...args]);
      await cli.shows(/^1 s/m);
      cli.kill('SIGSTOP');
      await sleep(STOP_MS);
      cli.kill('SIGCONT');
      const { stdout, code } = await cli.ended;
      const { totals, measurement, latencyMs, codes } = judged(stdout);
      assert.deepEqual([code, measurement.verdict, totals.planned], [98, 'invalid', 600]);
      assert.ok(codes.includes('load_not_offered'), codes.join());
      assert.ok(Number(latencyMs.response.max) > 0.9 * STOP_MS, 'the stop is in the response times');
    });
  }

  test('beyond the end of an open loop leaves requests unsent, but no verdict against the target', async () => {
    const limits = ['errors<1%', 'p90<500ms', 'max<1s'].flatMap((limit) => ['--require', limit]);
    const cli = startCli([...OCSP, '--rate', '50/s', '--duration', '3s', '--timeout', '500ms', ...limits]);
    await cli.shows(/^1 s/m);
    cli.kill('SIGSTOP');
    await sleep(4000);
    cli.kill('SIGCONT');
    const { totals, requirements } = rightResult((await cli.ended).stdout);
    assert.ok(totals.neverSent > 50, `${totals.neverSent}`);
    assert.deepEqual(
      requirements.map(({ verdict }) => verdict),
      Array(3).fill('not proven'),
    );
  });

  test('in a closed loop shows up in the max response time, whose bar allows for it', async () => {
    const cli = startCli([...OCSP, '--concurrency', '2', '--duration', '6s']);
    await cli.shows(/^1 s/m);
    cli.kill('SIGSTOP');
    await sleep(STOP_MS);
    cli.kill('SIGCONT');
    const { latencyMs } = judged((await cli.ended).stdout);
    assert.ok(Number(latencyMs.response.max) > 0.9 * STOP_MS, `${latencyMs.response.max}`);
    const low = latencyMs.response.bars?.max?.low;
    assert.ok(
      Number(low) < 0.5 * STOP_MS,
      `the response may have come at once, but the bar begins at ${low}`,
    );
  });
});

test('setting the clock back an hour changes no latency', async (t) => {
  const now = `Real.now() - (performance.now() > 2500 ? ${HOUR_MS} : 0)`;
  const module = scratch(t)(
    'step.mjs',
    `const Real = Date;
     globalThis.Date = class extends Real {
       constructor(...args) { super(...(args.length === 0 ? [${now}] : args)); }
       static now() { return ${now}; }
     };`,
  );
  const env = { NODE_OPTIONS: `--import=${module}` };
  const { stdout } = await runCli([...OCSP, '--rate', '50/s', '--duration', '4s'], { env });
  const { totals, latencyMs } = judged(stdout);
  assert.deepEqual([totals.planned, totals.sent], [200, 200]);
  assert.ok(Number(latencyMs.response.max) < 60_000 && Number(latencyMs.response.min) >= 0);
});

describe('with limited resources', () => {
  /** @param {string} shell what limits the program, `"$@"` */
  const limited = (shell) =>
    spawnSync(
      'bash',
      ['-c', shell, 'limited', process.execPath, 'bin/vault-pki-load.js', ...OCSP, '--cold-start', '--quiet'],
      { encoding: 'utf8', timeout: 120_000 },
    );

  test('on one core, every request is sent', { skip: process.platform !== 'linux' }, () => {
    const { totals } = judged(limited('taskset -c 0 "$@" --rate 50/s --duration 2s').stdout);
    assert.equal(totals.planned, 100);
  });

  test('without enough file descriptors, requests fail as too_many_open_files', () => {
    const { stdout, status } = limited('ulimit -n 150; "$@" --concurrency 200 --duration 2s');
    const { outcomes, measurement } = rightResult(stdout);
    assert.ok(outcomes.too_many_open_files > 0, JSON.stringify(outcomes));
    assert.equal(status, measurement.verdict === 'invalid' ? 98 : 0);
  });

  for (const megabytes of [100, 200]) {
    test(`with ${megabytes} MB of memory, there is a correct result or none`, {
      skip: process.platform !== 'linux',
    }, (t) => {
      const out = scratch(t)('r.json');
      const shell = `ulimit -c 0; prlimit --data=${megabytes}000000 "$@" --rate 50/s --duration 2s --out ${out}`;
      const { status, signal, stdout, stderr } = limited(shell);
      // Out of memory, no thread can be created, or Node and V8 end the process by a signal of their own.
      const isRefused = status === 1 && /No further thread can be created\..* memory\.$/m.test(stderr);
      assert.ok(
        status === 0 || isRefused || ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV'].includes(String(signal)),
        `${status} ${signal} ${stderr}`,
      );
      assert.equal(existsSync(out), status === 0);
      if (status === 0) judged(stdout);
    });
  }
});
