/** What a scenario wants set up, round its runs: there before them, gone after them, whatever becomes of them. */
import { EXIT } from '../common/errors.js';
import { HANG_UP, SIGNALS } from './process.js';

/** @import { ReadScenario } from '../campaigns/scenario/read.js' */
/** @import { Step } from '../campaigns/scenario/scenario-steps.js' */
/** @import { PkiLoadError } from '../common/errors.js' */

const AGAIN = 'Press Ctrl-C again to end at once.';

/**
 * @param {Pick<ReadScenario, 'setup'>} scenario
 * @param {readonly Step[]} steps
 * @param {{quiet: boolean}} settings
 * @param {(refused: ReadonlyMap<number, PkiLoadError>, heard: AbortController) => Promise<number>} act the runs; `refused`: steps on
 *   whose targets nothing could be set up; `heard`: see onInterrupt
 * @returns {Promise<number>} exit code
 */
export async function withSetup({ setup }, steps, { quiet }, act) {
  if (setup === null || steps.every(({ plan }) => plan.dev)) return act(new Map(), new AbortController());
  const [{ createScenarioSetup }, { interruptible }] = await Promise.all([
    import('../campaigns/scenario/run-setup.js'),
    import('./vault-command.js'),
  ]);
  const tell = (/** @type {string} */ text) => void process.stderr.write(`${text}\n`);
  const warn = (/** @type {string} */ text) => tell(`Warning: ${text}`);
  const made = createScenarioSetup(setup, steps, { say: quiet ? () => {} : tell, warn, interruptible });
  const signals = holdSignals(process, tell);
  const onExit = () => {
    for (const sentence of made.left()) warn(sentence);
  };
  process.once('exit', onExit);
  try {
    signals.phase('up');
    const refused = await made.up(signals.heard.signal);
    if (signals.heard.signal.aborted) return EXIT.interrupted;
    signals.phase('act');
    return await act(refused, signals.heard);
  } finally {
    signals.phase('down');
    await made.down();
    process.off('exit', onExit);
    signals.release();
  }
}

/**
 * Until all is removed again no signal ends the process by itself; while runs go on, they hear it themselves, and what comes
 * before the first of them, or between two, is kept for them.
 *
 * @param {Pick<NodeJS.Process, 'on' | 'off' | 'listenerCount'> & {exit: (code: number) => void}} process
 * @param {(text: string) => void} say
 * @returns {{heard: AbortController, phase: (next: 'up' | 'act' | 'down') => void, release: () => void}} `heard`: aborted by a signal
 *   while things are set up, or without another listener
 */
export function holdSignals(process, say) {
  const heard = new AbortController();
  /** @type {'up' | 'act' | 'down'} */
  let phase = 'up';
  let count = 0;
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => {
    if (phase === 'act' && process.listenerCount(signal) > 1) return;
    if (count > 0 && signal === HANG_UP) return;
    count++;
    if (count > 1) process.exit(EXIT.interrupted);
    else if (phase === 'down') say(`Removing the set-up. ${AGAIN}`);
    else {
      say(`Interrupted: removing the set-up. ${AGAIN}`);
      heard.abort();
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    heard,
    phase(next) {
      phase = next;
    },
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
