/** Scenarios that never were: results of steps with mixes and stages, and what they come to together. */
import { createScenarioSummary } from '../../src/result/scenario/scenario-result.js';
import { load } from '../engine/load-plan.js';
import { block, openLoad, START, sampleResult, spread } from './sample.js';
/** @import { PlannedStep } from '../../src/result/scenario/scenario-result.js' */
/** @import { Result } from '../../src/result/schema.js' */

/** @type {Result['requirements'][number]} */
export const REQUIRED = {
  text: 'hold: p99<200ms',
  stage: 'hold',
  verdict: 'met',
  actual: 12,
  limit: 200,
  unit: 'ms',
  reason: 'p99 is 12 ms.',
};

/** As the Cerberus experiment has it: a ramp, then steady. */
export const STAGES = Object.freeze([
  { name: 'ramp', lines: [{ durationMs: 10_000, from: 10, to: 50 }] },
  { name: 'hold', lines: [{ durationMs: 10_000, from: 50, to: 50 }] },
]);

/**
 * Half logins of 1 to 10 ms and half writes of 2 to 20 ms, times a factor: 400 requests in 20 s; of the writes some fail.
 *
 * @param {number} factor
 * @param {number} minute when it was started
 * @param {Partial<Result> & {failed?: number, stages?: any}} [changes]
 * @returns {Result}
 */
export function mixedRun(factor, minute, { failed = 0, ...changes } = {}) {
  const login = { outcome: 'good', service: spread(200, factor, 10 * factor) };
  const writes = spread(200, 2 * factor, 20 * factor);
  const write = { outcome: 'good', service: writes.slice(failed) };
  const bad = { outcome: 'http_500', success: false, service: writes.slice(0, failed) };
  const groups = [login, write, ...(failed > 0 ? [bad] : [])];
  return sampleResult(groups, {
    command: 'mixed',
    startedAt: new Date(START + minute * 60_000).toISOString(),
    operations: { login: block([login]), write: block(failed > 0 ? [write, bad] : [write]) },
    ...changes,
  });
}

/**
 * Logins of which the first so many time out, and writes of which so many are refused and so many dropped: 400 in 20 s.
 *
 * @param {number} minute when it was started
 * @param {{timedOut?: number, sealed?: number, dropped?: number, name?: string}} errors `name`: of those that were refused
 * @param {Partial<Result>} [changes]
 * @returns {Result}
 */
export function troubledRun(
  minute,
  { timedOut = 0, sealed = 0, dropped = 0, name = 'unavailable' },
  changes = {},
) {
  const login = { outcome: 'good', service: spread(200 - timedOut, 1, 10) };
  const slow = { outcome: 'timeout', success: false, service: spread(timedOut, 10_000, 10_000) };
  const write = { outcome: 'written', service: spread(200 - sealed - dropped, 2, 20) };
  const meaning = 'Vault is sealed, overloaded or without a leader (503).';
  const refused = { outcome: name, success: false, service: spread(sealed, 1, 2), meaning };
  const had = (/** @type {{service: number[]}[]} */ groups) =>
    /** @type {any[]} */ (groups).filter(({ service }) => service.length > 0);
  return sampleResult(had([login, slow, write, refused]), {
    command: 'mixed',
    startedAt: new Date(START + minute * 60_000).toISOString(),
    counts: { dropped },
    operations: { login: block(had([login, slow])), write: block(had([write, refused]), { dropped }) },
    ...changes,
  });
}

/**
 * The same as `mixedRun`, the first half of it due in a ramp.
 *
 * @param {number} factor
 * @param {number} minute
 * @param {Partial<Result>} [changes]
 * @returns {Result}
 */
export function stagedRun(factor, minute, changes = {}) {
  const ramp = { outcome: 'good', service: spread(300, factor, 10 * factor) };
  const hold = { outcome: 'good', service: spread(500, factor, 12 * factor) };
  const stage = (/** @type {string} */ name, /** @type {typeof ramp} */ group, /** @type {number} */ at) => {
    const own = block([group], { seconds: 10 });
    const level = name === 'ramp' ? { least: 10, most: 50 } : { least: 50, most: 50 };
    return {
      name,
      startSeconds: at,
      seconds: 10,
      windowSeconds: 10,
      level,
      ...own,
      operations: { read: own },
    };
  };
  return sampleResult([ramp, hold], {
    command: 'staged',
    startedAt: new Date(START + minute * 60_000).toISOString(),
    load: openLoad({ ratePerSecond: 50 }),
    operations: { read: block([ramp, hold]) },
    stages: [stage('ramp', ramp, 0), stage('hold', hold, 10)],
    requirements: [REQUIRED],
    ...changes,
  });
}

/**
 * @param {object} given
 * @param {string[]} [given.runs]
 * @param {string[]} given.targets
 * @param {number} given.repeat
 * @param {Partial<PlannedStep['plan']['load']>} [given.plan]
 * @param {string} [given.name]
 */
export function startScenario({ runs = ['mixed'], targets, repeat, plan = {}, name = 'Basic test' }) {
  const steps = runs.flatMap((run) =>
    targets.map((target) => ({
      name: runs.length === 1 ? target : `${run}-${target}`,
      run,
      target,
      plan: { load: load({ durationMs: 20_000, ...plan }) },
    })),
  );
  return createScenarioSummary({
    name,
    description: 'Half logins, half writes.',
    command: 'vault-pki-load run basic.yaml',
    startedAt: new Date(START),
    repeat,
    steps,
  });
}

/**
 * @param {Record<string, Result[]>} results by target, of the one run
 * @param {Partial<Parameters<typeof startScenario>[0]> & {interrupted?: boolean, failed?: Record<string, string>}} [more] `failed`: why
 *   nothing more was sent to a target
 */
export function scenarioOf(results, { interrupted = false, failed = {}, ...more } = {}) {
  const targets = Object.keys(results);
  const repeat = Math.max(1, ...Object.values(results).map(({ length }) => length));
  const summary = startScenario({ targets, repeat, ...more });
  for (const [i, target] of targets.entries()) {
    for (const result of results[target]) summary.add(i, result);
    if (failed[target] !== undefined) summary.fail(i, { code: 'unreachable', full: failed[target] });
  }
  return summary.result({ durationMs: 95_000, interrupted });
}
