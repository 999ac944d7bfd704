/** One measurement of a calibration: a whole run as a user's, and what its target saw of it. */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { scheduleOf } from '../../plan/due.js';
import { run } from '../../run.js';
import { quantilesOf, toMicros } from './quantiles.js';

/**
 * @typedef {object} Sighting what the target saw of a run; times are milliseconds from time zero
 * @property {number} samples requests
 * @property {import('./quantiles.js').Quantiles} latenessMs of the sends against the schedule; empty in a closed loop
 * @property {import('./quantiles.js').Quantiles} targetMs from the moment a request was noticed to its answer
 * @property {number | null} targetBusy CPU time of all its threads as a share of one core; null: too short to tell
 */

/** @typedef {Pick<import('../../verdict/measurement-schema.js').Measurement, 'verdict' | 'reasons'>} Verdict on the measurement */

/** Time zero and arrivals are read on the same clock, through two processes' offsets. */
const CLOCKS_APART_MS = 0.05;

/**
 * @param {import('../../plan/plan.js').Plan} plan
 * @param {object} context
 * @param {Awaited<ReturnType<typeof import('./target.js').startCalibrationTarget>>} context.target
 * @param {number} context.delayMs of the target
 * @param {AbortSignal | undefined} context.signal
 * @param {(text: string) => void} context.warn
 */
export async function measure(plan, { target, delayMs, signal, warn }) {
  await target.begin(delayMs);
  const result = await run(plan, {
    token: target.pki.token,
    signal,
    cutOff: signal,
    onEvent: (event) => event.type === 'warning' && warn(event.text),
  }).catch((error) => {
    throw error.code === 'interrupted' ? interrupted() : error;
  });
  if (result.interrupted) throw interrupted();
  const seen = await target.end();
  const { verdict, reasons } = result.measurement;
  return {
    result,
    measurement: { verdict, reasons },
    ...sight(seen, plan, BigInt(result.startedAtMonotonicNs ?? 0)),
  };
}

function interrupted() {
  return new PkiLoadError('interrupted', 'Interrupted: a calibration that is not whole says nothing.', {
    exitCode: EXIT.interrupted,
  });
}

/**
 * Arrivals are matched with due times in order. On several threads requests can overtake each other: the mean lateness
 * is right all the same, the percentiles are then too low by as much as one thread is behind another.
 *
 * @param {import('./target.js').Seen} seen
 * @param {import('../../plan/plan.js').Plan} plan without a warm-up
 * @param {bigint} startedAtNs time zero on the machine's monotonic clock
 * @returns {Sighting}
 */
export function sight({ arrivedMs, answeredMs, cpu, baseNs }, { load }, startedAtNs) {
  const originMs = Number(startedAtNs - baseNs) / 1e6;
  // The first request of `ocsp`, which asks whether there is a responder at all, comes before time zero.
  const first = arrivedMs.findIndex((ms) => ms >= originMs - CLOCKS_APART_MS);
  const from = first < 0 ? arrivedMs.length : first;
  const arrived = arrivedMs.subarray(from);
  const schedule = scheduleOf(load);
  const lateness = schedule === null ? [] : arrived.map((ms, i) => ms - originMs - schedule.dueMs(i));
  const answers = answeredMs.subarray(from).map((ms, i) => ms - arrived[i]);
  return {
    samples: arrived.length,
    latenessMs: quantilesOf(Float64Array.from(lateness)),
    targetMs: quantilesOf(answers.filter((ms) => !Number.isNaN(ms))),
    targetBusy: busyShare(cpu, originMs, originMs + Number(load.durationMs)),
  };
}

/**
 * @param {import('./target.js').Seen['cpu']} cpu
 * @param {number} fromMs
 * @param {number} toMs
 */
function busyShare(cpu, fromMs, toMs) {
  const inside = cpu.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
  const [first, last] = [inside[0], inside.at(-1)];
  if (last === undefined || last.atMs === first.atMs) return null;
  return toMicros((last.cpuMs - first.cpuMs) / (last.atMs - first.atMs));
}
