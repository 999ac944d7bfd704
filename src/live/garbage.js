/**
 * Keeps the garbage of this thread small. Each result so far and each file leaves tens of megabytes, much of it in the array buffers of
 * histograms. V8 would let that pile up: the longer the run, and the more kinds of failures it has, the higher.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** @returns {() => void} collects; call it after each piece of work */
export function createCollector() {
  // The flag gives `gc` to contexts made from now on.
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
