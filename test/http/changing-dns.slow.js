/** `--resolve-every` with a real DNS server whose answer changes in mid-run, once from one address to two, then to the other. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('changing-dns.js', import.meta.url));
const NAMESPACES = ['--net', '--mount'];
const isAllowed = spawnSync('unshare', [...NAMESPACES, 'ip', 'link', 'set', 'lo', 'up']).status === 0;

/** @param {string[]} flags @returns {Promise<{first: number[], second: number[], sent: number}>} requests to each address, in each third */
async function run(...flags) {
  const { stdout } = await promisify(execFile)('unshare', [
    ...NAMESPACES,
    process.execPath,
    SCRIPT,
    ...flags,
  ]);
  const { targets, totals } = JSON.parse(stdout);
  const [first, second] = targets;
  const received = [...first, ...second].reduce((sum, count) => sum + count, 0);
  assert.deepEqual([totals.succeeded, received], [totals.sent, totals.planned], 'sent once, and to a target');
  assert.equal(second[0], 0);
  return { first, second, sent: totals.sent };
}

describe('a DNS server whose answer changes', {
  skip: !isAllowed && 'needs root, for namespaces, and ip (iproute2)',
}, () => {
  test('kept connections move once their address is gone, not before', async () => {
    const { first, second } = await run('--resolve-every', '1s');
    assert.equal(second[1], 0);
    assert.ok(second[2] > first[2], `${first} and ${second}`);
  });

  test('new connections use both addresses in rotation', async () => {
    const { first, second } = await run('--resolve-every', '1s', '--requests-per-connection', '5');
    const isUsed = (/** @type {number} */ count, /** @type {number} */ other) => count > other / 4;
    const areUsed = [isUsed(second[1], first[1]), isUsed(first[1], second[1]), isUsed(second[2], first[2])];
    assert.deepEqual(areUsed, [true, true, true], `${first} and ${second}`);
  });

  test('without it, kept connections stay', async () => {
    const { second } = await run();
    assert.deepEqual(second, [0, 0, 0]);
  });
});
