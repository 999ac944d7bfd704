/**
 * What a caller's listener throws is not an error of the run: it goes on, and the error is thrown outside it (`uncaughtException`), as
 * Node does with listeners of an EventTarget.
 * @template E @param {(event: E) => unknown} [onEvent] @returns {(event: E) => void}
 */
export const isolated = (onEvent) => (event) => {
  try {
    onEvent?.(event);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
};
