/**
 * Can a step still be met? At a low rate a step takes a minute, and one that is overloaded shows it within seconds: of the requests
 * that are due and not answered, all but those of the last moments have waited for longer than the limit already, whatever is
 * still to come.
 */
import { formatCount, formatDuration } from '../../common/units.js';

/** @typedef {import('../../plan/plan.js').Plan} Plan */
/** @typedef {Pick<import('../../run.js').RunEvent & {type: 'interval'}, 'type' | 'elapsedMs' | 'inFlight' | 'waiting' | 'phase'>} Interval */

/** What is given up is not at the edge: so many times as many are late as may be, and not just a few, twice in a row. */
const CLEARLY = 2;
const LEAST_LATE = 5;
const IN_A_ROW = 2;

/** More requests than that many standard deviations above the mean become due at random within the time of a limit once in a thousand times. */
const SURE = 3;

/**
 * @param {Pick<Plan, 'load' | 'requirements'>} plan of a step
 * @returns {(seen: Interval) => string | null} told once a second: why it cannot be met any more; null: it can
 */
export function watchEarlyStop({ load, requirements }) {
  const { ratePerSecond, durationMs, warmupMs, concurrency } = load;
  if (load.model === 'closed' || ratePerSecond === null || durationMs === null) return () => null;
  const planned = (ratePerSecond * durationMs) / 1000;
  const limits = requirements.flatMap(
    ({ text, metric, quantile = 1, comparator, series, operation, limit }) => {
      const isLimit = metric === 'max' || metric === 'percentile';
      if (!isLimit || comparator[0] !== '<' || series !== 'response' || operation !== undefined) return [];
      const due = (ratePerSecond * limit) / 1000;
      const share = metric === 'max' ? 0 : 1 - quantile;
      return [{ text, allowed: share * planned, young: due + SURE * Math.sqrt(due) + 1 }];
    },
  );
  let row = 0;
  return ({ elapsedMs, inFlight, waiting, phase }) => {
    // What waits while connections are free waits for the tool.
    const isTool = waiting > 0 && inFlight < concurrency;
    const measuredMs = elapsedMs - warmupMs;
    const open = Math.min(inFlight + waiting, (ratePerSecond * measuredMs) / 1000);
    const broken =
      phase === 'measuring' && !isTool
        ? limits.find(({ allowed, young }) => open - young > Math.max(LEAST_LATE, CLEARLY * allowed))
        : undefined;
    row = broken === undefined ? 0 : row + 1;
    if (broken === undefined || row < IN_A_ROW) return null;
    const late = formatCount(Math.floor(open - broken.young));
    return `It was cut short after ${formatDuration(measuredMs)}, as ${broken.text} could no longer be met: of ${formatCount(Math.round(planned))} planned requests ${late} or more had waited for longer, and were not answered.`;
  };
}
