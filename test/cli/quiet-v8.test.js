/** V8 must not optimise code while a short run sends, and must do so again afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { quietly } from '../../src/cli/quiet-v8.js';
import { createPlan, run } from '../../src/index.js';

setFlagsFromString('--allow-natives-syntax');
/** Bit 6 of V8's OptimizationStatus: TurboFan has compiled the function. */
const isOptimized = new Function('f', 'return (%GetOptimizationStatus(f) & 64) !== 0');

let functions = 0;

/** @returns {boolean} whether V8 optimises a function that a loop calls all the time, within `ms` */
function optimizesWithin(/** @type {number} */ ms) {
  // A source of its own: V8 caches what it knows of a source.
  const sum = new Function('n', `let s = ${functions++}; for (let i = 0; i < n; i++) s += i % 7; return s;`);
  for (const end = performance.now() + ms; performance.now() < end && !isOptimized(sum); ) sum(10_000);
  return isOptimized(sum);
}

for (const [what, rate, isQuiet] of /** @type {const} */ ([
  ['a short run at a low rate', 200, true],
  ['a run at a higher rate', 201, false],
]))
  test(`V8 ${isQuiet ? 'does not optimise' : 'optimises'} code during ${what}, and does so after it`, async () => {
    const plan = await createPlan('health', { dev: true, coldStart: true, requests: 2, rate: `${rate}/s` });
    const seen = { during: false };
    const onEvent = (/** @type {{type: string}} */ { type }) => {
      if (type === 'start') seen.during = optimizesWithin(isQuiet ? 300 : 10_000);
    };
    const { totals } = await run(plan, { onEvent: quietly(onEvent) });
    assert.deepEqual([totals.succeeded, seen.during, optimizesWithin(10_000)], [2, !isQuiet, true]);
  });
