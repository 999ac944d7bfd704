/** `--start-at TIME`: when sending begins, so that the parts of a plan begin together on several machines. */
import { usageError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';

/** A token, a certificate or a laptop's patience may not last longer. */
const MOST_AHEAD_MS = 3_600_000;

const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/;

const EXAMPLES = 'Write it as 14:30:00, or with a date as 2026-01-31T14:30:00Z.';

/**
 * A time of day is that of this machine's time zone, today or, where it is over, tomorrow; a date-time without a zone is of
 * this machine's zone too.
 *
 * @param {string} text
 * @param {number} [nowMs] since 1970
 * @param {string} [name] what to call it in an error
 * @returns {string} ISO 8601, in UTC
 * @throws {import('../common/errors.js').PkiLoadError} code `bad_start_at`
 */
export function parseStartAt(text, nowMs = Date.now(), name = '--start-at') {
  const source = String(text).trim();
  const is = `${name} is ${JSON.stringify(source.slice(0, 80))}`;
  const atMs = timeOf(source, nowMs);
  if (Number.isNaN(atMs)) throw usageError('bad_start_at', `${is}, which is not a time.`, EXAMPLES);
  if (atMs <= nowMs) {
    const ago = formatDuration(Math.max(1, nowMs - atMs));
    throw usageError(
      'bad_start_at',
      `${is}, which was ${ago} ago by this machine's clock.`,
      'Give a later time.',
    );
  }
  if (atMs - nowMs > MOST_AHEAD_MS) {
    const ahead = formatDuration(atMs - nowMs);
    throw usageError(
      'bad_start_at',
      `${is}, which is ${ahead} from now by this machine's clock; it may be an hour ahead at most.`,
      'Give a nearer time, or start the command later.',
    );
  }
  return new Date(atMs).toISOString();
}

/**
 * @param {string} source
 * @param {number} nowMs
 * @returns {number} ms since 1970; NaN: it is no time
 */
function timeOf(source, nowMs) {
  const match = TIME_OF_DAY.exec(source);
  if (match === null) return DATE_TIME.test(source) ? Date.parse(source) : Number.NaN;
  const [hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  if (hours > 23 || minutes > 59 || seconds > 59) return Number.NaN;
  const at = new Date(nowMs);
  at.setHours(hours, minutes, seconds, 0);
  if (at.getTime() <= nowMs) at.setDate(at.getDate() + 1);
  return at.getTime();
}
