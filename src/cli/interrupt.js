/** Ctrl-C, SIGTERM or a terminal that goes away: the first stops sending, the second ends what is in flight too, the third ends the process as it is. */
import { EXIT } from '../errors.js';

const SIGNALS = Object.freeze(/** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']));

/** So long the second Ctrl-C may take to report; then the process ends all the same. */
const LAST_WORDS_MS = 3000;

/**
 * @param {NodeJS.Process} process
 * @param {(text: string) => void} say
 * @returns {{stop: AbortSignal, cutOff: AbortSignal, release: () => void}}
 */
export function onInterrupt(process, say) {
  const stop = new AbortController();
  const cutOff = new AbortController();
  const onSignal = () => {
    if (!stop.signal.aborted) {
      say('Interrupted: waiting for the last answers, then reporting. Press Ctrl-C again to end at once.');
      stop.abort();
    } else if (!cutOff.signal.aborted) {
      cutOff.abort();
      setTimeout(() => process.exit(EXIT.interrupted), LAST_WORDS_MS).unref();
    } else {
      process.exit(EXIT.interrupted);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    stop: stop.signal,
    cutOff: cutOff.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
