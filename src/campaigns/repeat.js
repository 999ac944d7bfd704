import { setTimeout as sleep } from 'node:timers/promises';

/** @param {number} ms @param {AbortSignal} stop ends the pause early */
export async function pauseFor(ms, stop) {
  if (ms > 0) await sleep(ms, undefined, { signal: stop }).catch(() => {});
}
