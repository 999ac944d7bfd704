/**
 * In network and mount namespaces of its own, as root: a DNS server whose answer changes, two targets, and the command line
 * in between. Prints the requests that each target received in each third of the run.
 *
 *     unshare --net --mount node test/http/changing-dns.js [FLAG...]
 */
import { execFileSync, spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const [PORT, DNS_PORT] = [18_200, 53];
const [RATE, SECONDS] = [50, 9];
const THIRD_MS = (SECONDS * 1000) / 3;
/** In each third of the run. */
const ANSWERS = [['127.0.0.2'], ['127.0.0.2', '127.0.0.3'], ['127.0.0.3']];

const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-dns-'));
let beginMs = Number.POSITIVE_INFINITY;
const third = () => Math.max(0, Math.min(2, Math.floor((performance.now() - beginMs) / THIRD_MS)));

/** RFC 1035, 4.1: one question; A records, no others. @param {Buffer} query @param {string[]} addresses */
function answerTo(query, addresses) {
  let end = 12;
  while (query[end] !== 0) end += query[end] + 1;
  const question = query.subarray(12, end + 5);
  const given = query.readUInt16BE(end + 1) === 1 ? addresses : [];
  const records = given.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  const head = Buffer.from([query[0], query[1], 0x81, 0x80, 0, 1, 0, given.length, 0, 0, 0, 0]);
  return Buffer.concat([head, question, ...records]);
}

async function startTarget(/** @type {string} */ host) {
  const counts = [0, 0, 0];
  const server = createServer(({ url }, response) => {
    if (url === '/load') {
      beginMs = Math.min(beginMs, performance.now());
      counts[third()]++;
    }
    response.end(JSON.stringify({ initialized: true, sealed: false, version: '1.21.1' }));
  });
  await once(server.listen(PORT, host), 'listening');
  return counts;
}

try {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  for (const [name, text] of [
    ['resolv.conf', 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n'],
    ['nsswitch.conf', 'hosts: dns\n'],
  ]) {
    writeFileSync(join(folder, name), text);
    execFileSync('mount', ['--bind', join(folder, name), `/etc/${name}`]);
  }
  const dns = dgram.createSocket('udp4');
  dns.on('message', (query, { port, address }) => dns.send(answerTo(query, ANSWERS[third()]), port, address));
  dns.bind(DNS_PORT, '127.0.0.1');
  await once(dns, 'listening');
  const targets = [await startTarget('127.0.0.2'), await startTarget('127.0.0.3')];
  const load = ['--rate', RATE, '--duration', `${SECONDS}s`, '--cold-start', '--format', 'json', '--quiet'];
  const target = ['--url', `http://vault.test:${PORT}`, '--path', '/load', '--token', 'none'];
  const child = spawn(
    process.execPath,
    [BIN, 'http', ...target, ...load.map(String), ...process.argv.slice(2)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  const { totals } = JSON.parse(text);
  process.stdout.write(`${JSON.stringify({ targets, totals })}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
process.exit();
