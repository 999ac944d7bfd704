/** What a scenario wants set up, round its runs: there before them, gone after them, whatever becomes of them. */
import { EXIT } from '../errors.js';

/** @typedef {import('../scenario/read.js').ReadScenario} ReadScenario */
/** @typedef {import('../errors.js').PkiLoadError} PkiLoadError */

const SIGNALS = Object.freeze(/** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']));

const AGAIN = 'Press Ctrl-C again to end at once.';

/**
 * @param {Pick<ReadScenario, 'setup'>} scenario
 * @param {readonly import('./scenario-run.js').Step[]} steps
 * @param {{quiet: boolean}} settings
 * @param {(refused: ReadonlyMap<number, PkiLoadError>) => Promise<number>} act the runs; `refused`: steps on whose targets nothing
 *   could be set up
 * @returns {Promise<number>} exit code
 */
export async function withSetup({ setup }, steps, { quiet }, act) {
  if (setup === null || steps.every(({ plan }) => plan.dev)) return act(new Map());
  const { createScenarioSetup } = await import('../scenario/run-setup.js');
  const tell = (/** @type {string} */ text) => void process.stderr.write(`${text}\n`);
  const warn = (/** @type {string} */ text) => tell(`Warning: ${text}`);
  const made = createScenarioSetup(setup, steps, { say: quiet ? () => {} : tell, warn });
  const signals = holdSignals(process, tell);
  const onExit = () => {
    for (const sentence of made.left()) warn(sentence);
  };
  process.once('exit', onExit);
  try {
    signals.phase('up');
    const refused = await made.up(signals.stop);
    if (signals.stop.aborted) return EXIT.interrupted;
    signals.phase('act');
    return await act(refused);
  } finally {
    signals.phase('down');
    await made.down();
    process.off('exit', onExit);
    signals.release();
  }
}

/**
 * Until all is taken away again no signal ends the process by itself; while runs go on, they hear it themselves.
 *
 * @param {Pick<NodeJS.Process, 'on' | 'off'> & {exit: (code: number) => void}} process
 * @param {(text: string) => void} say
 * @returns {{stop: AbortSignal, phase: (next: 'up' | 'act' | 'down') => void, release: () => void}} `stop`: aborted by a signal while
 *   things are set up; `phase`: what is done from now on
 */
export function holdSignals(process, say) {
  const stop = new AbortController();
  /** @type {'up' | 'act' | 'down'} */
  let phase = 'up';
  let heard = 0;
  const onSignal = () => {
    if (phase === 'act') return;
    heard++;
    if (heard > 1) process.exit(EXIT.interrupted);
    else if (phase === 'up') {
      say(`Interrupted: what was set up is taken away. ${AGAIN}`);
      stop.abort();
    } else say(`What was set up is being taken away. ${AGAIN}`);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    stop: stop.signal,
    phase(next) {
      phase = next;
    },
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
