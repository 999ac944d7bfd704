/** The end of the process in bad conditions: a terminal that is closed, few descriptors, a full disk, a pipe that nobody reads. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { assertNoStack, devServer, EC, environmentOf, scratch } from './support.js';

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const server = devServer();

/** @param {string} name @returns {string | false} why a test is skipped */
function missing(name) {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return `no ${name}`;
  }
}

/**
 * @param {string} line of a shell; `$CLI` is the program
 * @param {(child: import('node:child_process').ChildProcess, said: () => string) => unknown} [act]
 */
async function shell(line, act) {
  const child = spawn('sh', ['-c', line.replaceAll('$CLI', `"${process.execPath}" "${PROGRAM}"`)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: '/nonexistent', SHELL: '/bin/sh', ...environmentOf(server) },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const closed = once(child, 'close');
  await act?.(child, () => stdout + stderr);
  const [code, signal] = await closed;
  assertNoStack(stderr);
  return { code, signal, stdout, stderr };
}

const RUN = `$CLI issue --cold-start --requests 3 ${EC.join(' ')}`;

/** Runs the program on a terminal of its own, closes that at the first picture, and prints how the program ends. */
const CLOSING = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
seen = b''
while b'Progress' not in seen: seen += os.read(fd, 65536)
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

test('closing the terminal interrupts a run, without a crash', {
  skip: missing('python3'),
}, () => {
  const args = ['ocsp', ...EC, '--cold-start', '--rate', '20', '--duration', '10m'];
  const printed = execFileSync('python3', ['-c', CLOSING, process.execPath, PROGRAM, ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', TERM: 'xterm', ...environmentOf(server) },
    timeout: 60_000,
    encoding: 'utf8',
  });
  assert.equal(printed, '130\n');
});

/** Runs the program on a terminal of its own, stops that (Ctrl-S), and prints whether three SIGTERM end the program. */
const STOPPING = `
import os, pty, signal, socket, sys, time
target = socket.create_server(('127.0.0.1', 0))
pid, fd = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:] + ['--url', 'http://127.0.0.1:%d' % target.getsockname()[1]])
connection = target.accept()
os.write(fd, b'\\x13')
time.sleep(0.5)
ended = False
for number in range(3):
  if not ended: os.kill(pid, signal.SIGTERM)
  for wait in range(20):
    time.sleep(0.1)
    ended = ended or os.waitpid(pid, os.WNOHANG)[0] == pid
if not ended: os.kill(pid, signal.SIGKILL)
print(ended)`;

test('a stopped terminal: SIGTERM ends setup', { skip: missing('python3') }, () => {
  const printed = execFileSync('python3', ['-c', STOPPING, process.execPath, PROGRAM, 'setup'], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', TERM: 'xterm', VAULT_TOKEN: 'root' },
    timeout: 60_000,
    encoding: 'utf8',
  });
  assert.equal(printed, 'True\n');
});

/** Ends the program by three signals, and prints whether the pipe on its standard output, which others may share, is non-blocking. */
const SHARING = `
import fcntl, os, signal, subprocess, sys, time
reader, writer = os.pipe()
program = subprocess.Popen(sys.argv[1:], stdout=writer)
is_non_blocking = lambda: bool(fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK)
os.read(reader, 1)
print(is_non_blocking())
for number in range(3):
  program.send_signal(signal.SIGTERM)
  time.sleep(0.5)
print(program.wait(20), is_non_blocking())`;

test('the third signal resets a pipe that other programs share', { skip: missing('python3') }, () => {
  const url = new URL('../../src/cli/process.js', import.meta.url).href;
  const program = `
    import { onInterrupt } from ${JSON.stringify(url)};
    onInterrupt(process).attach(() => {});
    process.stdout.write('ready');
    setInterval(() => {}, 1000);`;
  const args = ['-c', SHARING, process.execPath, '--input-type=module', '-e', program];
  assert.equal(execFileSync('python3', args, { timeout: 60_000, encoding: 'utf8' }), 'True\n-2 False\n');
});

describe('one line, exit code 1, and the result on standard output:', {
  skip: !existsSync('/dev/full'),
}, () => {
  /** @type {[string, string, RegExp][]} what, line, message */
  const TABLE = [
    [
      'a full disk',
      `ln -s /dev/full full.json; ${RUN} --out full.json`,
      /full\.json .*: the disk is full\. Free/,
    ],
    ['an unread pipe', `mkfifo p.json; ${RUN} --out p.json`, /p\.json .*: no process is reading the pipe\./],
  ];
  for (const [what, line, message] of TABLE) {
    test(what, async (t) => {
      const folder = scratch(t)('folder');
      mkdirSync(folder);
      const { code, stdout, stderr } = await shell(`cd ${folder}; ${line}`);
      assert.ok(code === 1 || code === 98, `${code}: ${stderr}`);
      assert.match(stderr.replaceAll(/\s+/g, ' '), message);
      assert.match(stdout, /3 of 3 certificates/);
    });
  }
});

test('an unread pipe: the third Ctrl-C ends the process', async (t) => {
  const folder = scratch(t)('folder');
  mkdirSync(folder);
  const line = `cd ${folder}; mkfifo p.json; exec ${RUN} --out p.json`;
  const { signal } = await shell(line, async (child, said) => {
    while (!/planned/.test(said())) await sleep(20);
    await sleep(2000);
    for (let i = 0; i < 3; i++) {
      child.kill('SIGINT');
      await sleep(100);
    }
  });
  assert.equal(signal, 'SIGINT');
});

test('an unread standard output: SIGTERM ends the process', async (t) => {
  const folder = scratch(t)('folder');
  mkdirSync(folder);
  // The shell holds both ends of the pipe, fills it and reads nothing.
  const fill = 'mkfifo p; exec 3<>p; head -c 65536 /dev/zero >&3';
  const line = `cd ${folder}; ${fill}; ${RUN} --quiet >&3 & sleep 5; kill $!; wait $!; echo $? >&2`;
  assert.match((await shell(line)).stderr, /^143\n$/m);
});

describe('too few file descriptors: a message, not a stack trace:', () => {
  for (const limit of [20, 28, 32]) {
    test(`ulimit -n ${limit}`, async () => {
      const { code, stderr } = await shell(`ulimit -n ${limit}; ${RUN} --concurrency 50 --quiet`);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^vault-pki-load: .*(?:too many (?:open )?files|ulimit -n)/i);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    });
  }
});

test('no current or temporary directory: a message with the remedy', async (t) => {
  const folder = scratch(t)('folder');
  mkdirSync(folder);
  for (const [line, expected] of [
    [
      `cd ${folder}; rmdir ${folder}; $CLI --help`,
      /^vault-pki-load: The current directory has been removed\. /,
    ],
    ['TMPDIR=/nowhere $CLI health --dev --tls --requests 1', /^vault-pki-load: .* Set TMPDIR to a writable/],
  ]) {
    const { code, stderr } = await shell(String(line));
    assert.equal(code, 1, stderr);
    assert.match(stderr, /** @type {RegExp} */ (expected));
    assertNoStack(stderr);
  }
});
