/**
 * `node test/pki/mutations/main.js [--count 1000000] [--seed 1] [--threads 2]`: reads a million damaged OCSP responses with
 * our reader, with pkijs and by the grammar, and prints where they differ. Takes a quarter of an hour of two cores. Exit
 * code 1 where something is accepted that should not be.
 */
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { addTally, compareMutant, emptyTally, isClean, ORIGINALS } from './compare.js';

if (isMainThread) await runAll();
else runShare();

/** In a thread: a share of the mutants. */
function runShare() {
  const { seed, count, threads, first } = workerData;
  const tally = emptyTally();
  for (let number = first; number < count; number += threads) {
    compareMutant(tally, seed, number);
    if (tally.mutants % 1000 === 0) parentPort?.postMessage({ done: tally.mutants });
  }
  parentPort?.postMessage({ done: tally.mutants, tally });
}

async function runAll() {
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
  const timer = setInterval(() => {
    process.stderr.write(`${done.reduce((a, b) => a + b, 0)} of ${count}\n`);
  }, 30_000);
  const shares = done.map((_, first) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { seed, count, threads, first } });
    worker.on('message', (message) => {
      done[first] = message.done;
      if (message.tally) addTally(tally, message.tally);
    });
    return new Promise((resolve, reject) => worker.once('error', reject).once('exit', resolve));
  });
  await Promise.all(shares);
  clearInterval(timer);
  process.stdout.write(`${JSON.stringify({ seed, originals: ORIGINALS.length, ...tally }, null, 2)}\n`);
  process.exitCode = isClean(tally) && tally.mutants === count ? 0 : 1;
}
