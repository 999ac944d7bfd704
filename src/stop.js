/**
 * @param {Promise<void>} promise
 * @param {AbortSignal} stop
 * @returns {Promise<void>} when either has come
 */
export async function unlessStopped(promise, stop) {
  if (stop.aborted) return;
  const over = new AbortController();
  const stopped = new Promise((resolve) => {
    stop.addEventListener('abort', resolve, { once: true, signal: over.signal });
  });
  await Promise.race([promise, stopped]);
  over.abort();
}
