/**
 * `node test/pki/mutations/main.js [--count 1000000] [--seed 1] [--threads 2]`: reads a million damaged OCSP responses with
 * our reader, with pkijs and by the grammar, and says where they differ. Takes a quarter of an hour of two cores. Exit
 * code 1 where something is accepted that should not be.
 */
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { addTally, emptyTally, ORIGINALS } from './compare.js';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    threads: { type: 'string', default: '2' },
  },
});
const [count, seed, threads] = [values.count, values.seed, values.threads].map(Number);
const tally = emptyTally();
const done = Array(threads).fill(0);

/** @param {number} first */
function runShare(first) {
  const worker = new Worker(new URL('worker.js', import.meta.url), {
    workerData: { seed, count, threads, first },
  });
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => {
      done[first] = message.done;
      if (message.tally) addTally(tally, message.tally);
    });
    worker.once('error', reject).once('exit', resolve);
  });
}

const timer = setInterval(() => {
  process.stderr.write(`${done.reduce((a, b) => a + b, 0)} of ${count}\n`);
}, 30_000);
await Promise.all(done.map((_, first) => runShare(first)));
clearInterval(timer);
process.stdout.write(`${JSON.stringify({ seed, originals: ORIGINALS.length, ...tally }, null, 2)}\n`);
const bad = [tally.laxer, tally.differing, tally.unexplained, tally.wrong].some((list) => list.length > 0);
process.exitCode = bad || tally.mutants !== count ? 1 : 0;
