/**
 * The live view as users see it: the program on a terminal of its own, with keys that are pressed, and all that can be seen there.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startDevServer } from '../../src/dev/spawn.js';
import { assertAddsUp, EC, environmentOf, rightResult, scratch } from '../cli/support.js';
import { createTerminalScreen } from './terminal-screen.js';

/** @import { Result } from '../../src/result/schema.js' */

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));

const CTRL_C = '\u0003';
const CTRL_S = '\u0013';
const CTRL_Q = '\u0011';

/** However slow the machine: no run of these tests takes this long unless it hangs. */
const HANGS_AFTER_MS = 300_000;

const LONG = ['--duration', '10m'];

/** A frame of the live view, wherever it is. */
const FRAME = /^(Progress {3}|Rate {7}\S|In flight {2}|Required {3})/m;

/** Of util-linux: other systems' `script` is asked in another way. @returns {string | false} */
function noScript() {
  try {
    const version = execFileSync('script', ['--version'], { encoding: 'utf8' });
    return version.includes('util-linux') ? false : 'another script';
  } catch {
    return 'no script';
  }
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * @param {string[]} args
 * @param {object} options
 * @param {Record<string, string>} options.env
 * @param {string} [options.first] a shell command on the same terminal
 * @param {{columns: number, rows: number}} [options.size]
 */
function startOnTerminal(args, { env, first = 'stty cols 100 rows 30', size = { columns: 100, rows: 30 } }) {
  const line = [process.execPath, PROGRAM, ...args].map(quoted).join(' ');
  const child = spawn('script', ['-q', '-e', '-f', '-c', `${first}; exec ${line}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: '/nonexistent', SHELL: '/bin/sh', TERM: 'xterm', ...env },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const hangs = setTimeout(() => child.kill('SIGKILL'), HANGS_AFTER_MS);
  const ended = once(child, 'close').then(([code, signal]) => {
    clearTimeout(hangs);
    assert.notEqual(signal, 'SIGKILL', `hangs: ${output}`);
    assertAddsUp({ stdout: output, stderr: '' });
    return /** @type {number} */ (code);
  });
  /** All that can be seen, and what has scrolled away. */
  function seen() {
    const screen = createTerminalScreen(size);
    screen.write(output);
    return screen.lines().join('\n');
  }
  return {
    ended,
    seen,
    output: () => output,
    /** @param {string} path of the terminal @param {number} columns */
    resize(path, columns) {
      execFileSync('stty', ['-F', path, 'cols', String(columns)]);
      output += `\u001b[8;${size.rows};${columns}t`;
    },
    press: (/** @type {string} */ key) => child.stdin.write(key),
    /** @param {RegExp} pattern @returns {Promise<RegExpExecArray>} when it is seen */
    async shows(pattern) {
      for (;;) {
        const found = pattern.exec(seen());
        if (found !== null) return found;
        const more = await Promise.race([once(child.stdout, 'data'), ended.then(() => null)]);
        assert.ok(more !== null || pattern.test(seen()), `never showed ${pattern}: ${seen()}`);
      }
    },
  };
}

/** @param {string} path of a result @param {(result: Result) => boolean} isSo */
async function written(path, isSo) {
  for (;;) {
    if (existsSync(path)) {
      const result = JSON.parse(readFileSync(path, 'utf8'));
      if (isSo(result)) return result;
    }
    await sleep(50);
  }
}

describe('on a terminal', { skip: noScript(), concurrency: 2 }, () => {
  /** @param {{after: (fn: () => unknown) => void}} t */
  async function environment(t) {
    const server = await startDevServer({ caKeyType: 'ec' });
    t.after(() => server.stop());
    return { server, env: environmentOf(server) };
  }

  for (const [what, first] of [
    ['of a usual size', 'stty cols 100 rows 30'],
    ['that does not know its size', 'stty cols 0 rows 0'],
  ]) {
    test(`${what} a run shows its progress, and removes it at the end`, async (t) => {
      const { env } = await environment(t);
      const load = ['--rate', '72000/h', '--duration', '8s', '--require', 'rate>=72000/h'];
      const { shows, ended, seen, output } = startOnTerminal(['ocsp', ...EC, ...load], { env, first });
      const [, rate] = await shows(/^Required {3}rate>=72000\/h {2}met so far: ([\d,]+\/h)$/m);
      assert.equal(rate, '72,000/h');
      assert.match(output(), /ocsp on .* 160\s+requests planned\r$/m);
      await shows(
        /^Progress {3}█+░* +\d+ % {2}\d s of 8 s, \d s left\nRate {7}[\d.]+\/s succeeded, 20\/s offered$/m,
      );
      await ended;
      assert.doesNotMatch(seen(), FRAME);
      assert.match(seen(), /^ {2}[\d,]+ of [\d,]+ OCSP responses good/m);
    });
  }

  test('stopped and resumed: files and metrics continue, the frame is current and removed at the end', async (t) => {
    const { env } = await environment(t);
    const json = scratch(t)('r.json');
    const args = ['ocsp', ...EC, '--rate', '20/s', ...LONG, '--out', json, '--metrics', '0'];
    const { press, shows, ended, seen, output } = startOnTerminal(args, { env });
    const [, address] = await shows(/^Metrics are served at (\S+)\.$/m);
    await shows(/^Progress {3}/m);
    press(CTRL_S);
    const before = (await written(json, () => true)).durationSeconds;
    // Longer than files may grow old.
    await written(json, ({ durationSeconds }) => durationSeconds > before + 6);
    const text = await (await fetch(address)).text();
    assert.match(text, /^vault_pki_load_running 1$/m);
    const [, known] = /^vault_pki_load_duration_seconds(?:\{.*\})? (\S+)$/m.exec(text) ?? [];
    assert.ok(Number(known) > before + 4, text);
    const frames = () => output().match(/Progress {3}/g)?.length ?? 0;
    const until = frames();
    press(CTRL_Q);
    const [, second] = await shows(/^Progress {3}.* (\d+) s of 10 min/m).then(() =>
      shows(/^Progress {3}.* ([6-9]|\d\d) s of 10 min/m),
    );
    assert.ok(Number(second) >= before, second);
    assert.ok(frames() - until <= 5, 'what would have been old was not drawn');
    press(CTRL_C);
    assert.equal(await ended, 130);
    assert.doesNotMatch(seen(), FRAME);
    assert.match(seen(), /^ {2}[\d,]+ of [\d,]+ OCSP responses good/m);
  });

  test('stopped at the end of a run: the files are written; the summary appears on resume, and nothing else', async (t) => {
    const { env } = await environment(t);
    const json = scratch(t)('r.json');
    const args = ['ocsp', ...EC, '--rate', '20/s', '--duration', '6s', '--out', json];
    const { press, shows, ended, seen } = startOnTerminal(args, { env });
    await shows(/^Progress {3}/m);
    press(CTRL_S);
    rightResult(JSON.stringify(await written(json, ({ unfinished }) => unfinished === undefined)));
    assert.match(seen(), FRAME);
    press(CTRL_Q);
    await ended;
    assert.doesNotMatch(seen(), FRAME);
    assert.match(seen(), /ocsp on .*\n(.*\n)?[\s\S]*^ {2}\d+ of \d+ OCSP responses good/m);
  });

  test('Ctrl-C: announces the wait for responses, and starts no other wait', async (t) => {
    const { server, env } = await environment(t);
    const load = ['--rate', '20/s', '--concurrency', '2', '--timeout', '60s', ...LONG];
    const { press, shows, ended, seen } = startOnTerminal(['ocsp', ...EC, ...load], { env });
    await shows(/^Rate {7}\d/m);
    process.kill(server.pid, 'SIGSTOP');
    await shows(/^In flight {2}2, \d\d+ waiting$/m);
    press(CTRL_C);
    const pattern =
      /^Progress {3}(\d+) s, waiting for the last responses\nRate .* succeeded\nIn flight {2}2, (\d+) waiting$/m;
    const [, begun, waited] = await shows(pattern);
    for (let later = begun, waiting = waited; Number(later) < Number(begun) + 2; ) {
      [, later, waiting] = await shows(pattern);
      assert.equal(waiting, waited);
      await sleep(100);
    }
    press(CTRL_C);
    assert.equal(await ended, 130);
    assert.doesNotMatch(seen(), FRAME);
  });

  test('resized: nothing is left behind', async (t) => {
    const { env } = await environment(t);
    const load = ['--rate', '20/s', ...LONG, '--require', 'p99<10s'];
    const { shows, resize, press, ended, seen } = startOnTerminal(['ocsp', ...EC, ...load], {
      env,
      first: 'tty; stty cols 100 rows 30',
    });
    const [, path] = await shows(/^(\/dev\/\S+)$/m);
    for (const columns of [60, 150, 50]) {
      const progress = /^Progress {3}(?:█*░+ +)?\d+ % {2}(\d+) s of 10 min, .* left\nRate/m;
      const [, before] = await shows(progress);
      resize(path, columns);
      for (let now = before; Number(now) < Number(before) + 2; await sleep(50)) {
        [, now] = await shows(progress);
      }
      assert.equal(seen().match(/^Progress /gm)?.length, 1, seen());
    }
    resize(path, 40);
    await shows(/^\d+ s\/10 min {2}[\d.]+\/s of 20\/s/m);
    assert.doesNotMatch(seen(), FRAME, 'one line has to do where there is no more room');
    press(CTRL_C);
    await ended;
    assert.doesNotMatch(seen(), FRAME);
    assert.match(seen(), /^ {2}[\d,]+ of [\d,]+ OCSP responses good/m);
  });
});
