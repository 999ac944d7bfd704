/** Thread entry: a share of the mutants. Messages out: how many are done, and at the end the tally. */
import { parentPort, workerData } from 'node:worker_threads';
import { compareMutant, emptyTally } from './compare.js';

const { seed, count, threads, first } = workerData;
const tally = emptyTally();
for (let number = first; number < count; number += threads) {
  compareMutant(tally, seed, number);
  if (tally.mutants % 1000 === 0) parentPort?.postMessage({ done: tally.mutants });
}
parentPort?.postMessage({ done: tally.mutants, tally });
