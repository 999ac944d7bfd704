import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { childrenOf, readTree } from './process-tree.js';

/** A grandchild allocates 64 MB and reports it through its parent. Both exit when their standard input closes. */
const HOLD = "globalThis.held = Buffer.alloc(64e6, 1); console.log('held'); process.stdin.resume()";
const PARENT = `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(HOLD)}], { stdio: ['pipe', 'inherit', 'inherit'] }); process.stdin.pipe(child.stdin)`;
/** Spins in a worker thread, which ends, for 0.3 s of CPU time. */
const SPIN = `const { Worker } = require('node:worker_threads');
new Worker('const t = process.cpuUsage(); while (process.cpuUsage(t).user < 3e5);', { eval: true }).on('exit', () => console.log('spun'));
process.stdin.resume()`;

const options = { skip: process.platform !== 'linux' && 'needs /proc' };

describe('memory and CPU time of a process tree', options, () => {
  it('sums the memory of a child and a grandchild', async () => {
    await withNode(PARENT, (pid) => {
      const [grandchild] = childrenOf(pid);
      const both = readTree(pid);
      const alone = readTree(grandchild);
      assert.equal(both?.processes, 2);
      assert.ok(alone !== null && alone.residentMb > 64, `${alone?.residentMb} MB`);
      assert.ok(both.residentMb > alone.residentMb + 20, `${both.residentMb} MB`);
      assert.ok(both.highestMb >= 64);
    });
  });

  it('includes the CPU time of a finished thread', async () => {
    await withNode(SPIN, (pid) => {
      const usage = readTree(pid);
      assert.ok(usage !== null && usage.cpuSeconds >= 0.29, `${usage?.cpuSeconds} s`);
    });
  });

  it('returns null for a missing process', () => {
    assert.equal(readTree(0x3fff_fff0), null);
    assert.deepEqual(childrenOf(0x3fff_fff0), []);
  });
});

/** @param {string} script that prints something when it is ready @param {(pid: number) => void} inspect */
async function withNode(script, inspect) {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  try {
    inspect(/** @type {number} */ (child.pid));
  } finally {
    child.stdin.end();
    await ended;
  }
}
