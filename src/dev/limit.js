/**
 * @param {number} most tasks under way at once
 * @returns {<T>(task: () => Promise<T>) => Promise<T>} starts the task now or, in order, when another has ended
 */
export function limitConcurrency(most) {
  let active = 0;
  /** @type {(() => void)[]} */
  const waiting = [];
  return async (task) => {
    if (active >= most) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    else active += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  };
}
