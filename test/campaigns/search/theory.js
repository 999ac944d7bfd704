/** Many searches on a server that is simulated, each with its seed: what they find is what theory says. No time passes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMax } from '../../../src/campaigns/search/find-max.js';
import { uniform } from '../../../src/common/random.js';
import { loadOfLimit, planOf, simulateStep } from './simulated-server.js';
import { simulateWorkers } from './simulated-workers.js';

/** @import { SearchSettings } from '../../../src/campaigns/search/search-options.js' */
/** @import { Plan } from '../../../src/plan/plan.js' */

/** @param {Partial<SearchSettings>} changes @returns {SearchSettings} */
export const settings = (changes) => ({
  ...{
    of: 'rate',
    start: 50,
    highest: 1e6,
    stepMs: 10_000,
    confirmMs: 30_000,
    recoverMs: 0,
    fitConnections: true,
  },
  ...changes,
});

/** @param {Plan} plan @param {number} serviceMs @param {Partial<SearchSettings>} [changes] */
export const searchFor = (plan, serviceMs, changes = {}) =>
  findMax(plan, settings(changes), { runStep: async (stepPlan) => simulateStep(stepPlan, serviceMs) });

/** @param {Plan} plan @param {Parameters<typeof simulateWorkers>[1]} target */
export const peakFor = (plan, target) =>
  findMax(plan, settings({ of: 'concurrency', start: 1, highest: 64 }), {
    runStep: async (stepPlan) => simulateWorkers(stepPlan, target),
  });

/** @param {number[]} errors @param {number} bound */
export const shareWithin = (errors, bound) =>
  errors.filter((error) => Math.abs(error) <= bound).length / errors.length;

/** @param {number} searches of each kind */
export function testTheory(searches) {
  test(`D/D/1: ${searches} searches find 1 / service time within 5 %, whatever the p99 limit and the start`, async () => {
    const errors = [];
    for (let seed = 1; seed <= searches; seed++) {
      const [a, b, c] = [0, 1, 2].map((stream) => uniform(seed, stream, 77));
      const serviceMs = 2 + 18 * a;
      const capacity = 1000 / serviceMs;
      const plan = planOf([`p99<${(serviceMs * (5 + 45 * b)).toFixed(2)}ms`]);
      const { answer, why } = await searchFor(plan, serviceMs, { start: capacity * (0.02 + 3 * c) });
      assert.equal(why, 'bracketed', `seed ${seed}`);
      errors.push(Number(answer?.level) / capacity - 1);
    }
    assert.equal(shareWithin(errors, 0.05), 1, `${Math.min(...errors)} to ${Math.max(...errors)}`);
  });

  test(`M/D/1, p99 of 10 service times: of ${searches} searches 8 in 10 are within 5 % of theory, all but 1 in 50 within 10 %`, async () => {
    const serviceMs = 10;
    const exact = (loadOfLimit(0.99, 10) * 1000) / serviceMs;
    const errors = [];
    for (let seed = 1; seed <= searches; seed++) {
      const plan = planOf(['p99<100ms'], { arrivals: 'poisson', seed });
      const { answer } = await searchFor(plan, serviceMs, { stepMs: 30_000, confirmMs: 90_000 });
      errors.push(answer === null ? -1 : answer.level / exact - 1);
    }
    errors.sort((a, b) => a - b);
    const said = `${errors[0]} ... ${errors[Math.floor(searches / 2)]} ... ${errors[searches - 1]}`;
    assert.ok(shareWithin(errors, 0.05) >= 0.8, said);
    assert.ok(shareWithin(errors, 0.1) >= 0.98, said);
    assert.ok(Math.abs(errors[Math.floor(searches / 2)]) < 0.03, `the median is off: ${said}`);
  });

  for (const [required, errorShare] of /** @type {[string, number][]} */ ([
    ['errors<0.1%', 0.0003],
    ['p99.9<100ms', 0.0003],
  ])) {
    test(`${required} with ${errorShare * 100} % misses: chance at a low rate does not end the search`, async () => {
      for (let seed = 1; seed <= searches / 5; seed++) {
        let drawn = 0;
        const fails = () => uniform(seed, drawn++, 78) < errorShare;
        const { answer, explanation } = await findMax(planOf([required], { seed }), settings({}), {
          runStep: async (plan) => simulateStep(plan, 1, fails),
        });
        const low = `seed ${seed}: ${answer?.level}. ${explanation}`;
        assert.ok(answer !== null && answer.level > 900 && answer.level < 1050, low);
      }
    });
  }
}
