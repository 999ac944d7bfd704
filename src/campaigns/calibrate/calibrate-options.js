/** Declarations of the options of a calibration; those of the load are the ones that every operation has. */
import { commonOptions } from '../../plan/common-options.js';

/** @import { OptionSpec } from '../../common/options.js' */

const { concurrency, threads, pacing } = commonOptions;

/** @type {Record<string, OptionSpec>} */
export const calibrationOptions = {
  concurrency,
  threads,
  pacing,
  duration: {
    type: 'duration',
    group: 'Calibration',
    placeholder: 'TIME',
    default: '1s',
    min: 100,
    max: 10_000,
    describe: 'Length of each of the 15 to 30 measurements',
  },
  'max-lateness': {
    type: 'duration',
    group: 'Calibration',
    placeholder: 'TIME',
    default: '1ms',
    min: 0.01,
    max: 1000,
    describe: 'A rate is honest if 99 % of the requests are at most this late',
  },
};
