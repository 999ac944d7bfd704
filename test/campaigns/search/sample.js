/** Searches that never were, with a confirmation that is a whole result. */
import { findMax } from '../../../src/campaigns/search/find-max.js';
import { openLoad, sampleResult, spread } from '../../result/sample.js';
import { planOf, simulateStep } from './simulated-server.js';

/** @import { SearchContext } from '../../../src/campaigns/search/find-max.js' */
/** @import { SearchSettings } from '../../../src/campaigns/search/search-options.js' */
/** @import { Plan } from '../../../src/plan/plan.js' */
/** @import { Search } from '../../../src/result/search/search-schema.js' */

/** @param {Search} search @returns {Search} the same on any day */
function dated(search) {
  const always = { startedAt: '2026-01-02T03:04:05.000Z', durationSeconds: 123 };
  if (search.confirmation === null) return { ...search, ...always };
  const requests = [{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }];
  // Not to be read: its throughput is that of the steps.
  if (search.searched === 'concurrency')
    return { ...search, ...always, confirmation: sampleResult(requests) };
  const requirements = search.confirmation.requirements.map(({ low, high, ...judged }) => judged);
  const load = openLoad({ ratePerSecond: search.answer?.level });
  const confirmation = sampleResult(requests, { requirements, load });
  const { latencyMs, rates, errorShare } = confirmation;
  const { p50: p50Ms, p99: p99Ms, max: maxMs } = latencyMs.response;
  const figures = { perSecond: rates.perSecond, p50Ms, p99Ms, maxMs, errorShare };
  const last = search.steps.findLastIndex(({ phase, level, verdict }) => {
    return phase === 'confirmation' && level === search.answer?.level && verdict === 'met';
  });
  const answer = { ...search.steps[last], ...figures };
  return { ...search, ...always, answer, steps: search.steps.with(last, answer), confirmation };
}

/** @param {Partial<SearchSettings>} [changes] @param {Partial<SearchContext>} [context] */
export async function sampleSearch(changes = {}, context = {}) {
  const common = {
    start: 50,
    highest: 1e6,
    stepMs: 10_000,
    confirmMs: 30_000,
    recoverMs: 0,
    fitConnections: true,
  };
  const search = await findMax(
    planOf(['p99<100ms', 'errors<0.1%']),
    { of: 'rate', ...common, ...changes },
    {
      runStep: async (plan) => simulateStep(plan, 10),
      command: 'vault-pki-load ocsp --find-max-rate',
      ...context,
    },
  );
  return dated(search);
}

/** The tool gives up before the target does. */
export function generatorSearch() {
  const runStep = async (/** @type {Plan} */ plan) => {
    const ended = simulateStep(plan, 10);
    if (Number(plan.load.ratePerSecond) <= 60) return ended;
    const late = /** @type {const} */ ({ grade: 'invalid', code: 'send_lag', text: 'Sends were 9 ms late.' });
    return {
      ...ended,
      result: {
        ...ended.result,
        measurement: { verdict: /** @type {const} */ ('invalid'), reasons: [late] },
      },
    };
  };
  return sampleSearch({}, { runStep });
}

/** Of a closed loop: 12 workers, each good for 50/s. */
export async function samplePeak() {
  const runStep = async (/** @type {Plan} */ plan) => {
    const { load } = plan;
    const open = { ...plan, load: { ...load, model: /** @type {const} */ ('open'), ratePerSecond: 1 } };
    const { result, recovery } = simulateStep(open, 10);
    const requirements = result.requirements.map((one) => ({
      ...one,
      verdict: /** @type {const} */ ('met'),
    }));
    const inFlight = load.concurrency;
    const rates = { ...result.rates, perSecond: 50 * Math.min(inFlight, 12) };
    const totals = { ...result.totals, sent: (rates.perSecond * Number(load.durationMs)) / 1000 };
    const ms = 20 * Math.max(1, inFlight / 12);
    const response = { ...result.latencyMs.response, p50: ms, p99: 2 * ms, max: 3 * ms };
    const measurement = { verdict: /** @type {const} */ ('valid'), reasons: [] };
    return {
      result: {
        ...result,
        load,
        rates,
        totals,
        requirements,
        measurement,
        latencyMs: { ...result.latencyMs, response },
      },
      recovery,
    };
  };
  return sampleSearch({ of: 'concurrency', start: 1, highest: 64 }, { runStep });
}
