import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPlan, run } from '../../src/index.js';
import { readEnvironment } from '../../src/vault/environment.js';

const STALL_MS = 1000;

/** @param {number} ms */
function block(ms) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** @param {Record<string, unknown>} options @param {() => void} [stall] called once, during the run */
async function runWithStall(options, stall = () => block(STALL_MS)) {
  const plan = await createPlan(
    'ocsp',
    { dev: true, coldStart: true, role: 'example-dot-com-ec', ...options },
    readEnvironment({}),
  );
  let stalled = false;
  return run(plan, {
    onEvent(event) {
      if (event.type !== 'interval' || stalled) return;
      stalled = true;
      stall();
    },
  });
}

test('a stall of the tool counts in the response times, and makes the measurement invalid', async () => {
  const result = await runWithStall({ rate: 200, duration: '3s', require: ['p99<5s'] });
  assert.equal(result.totals.sent, 600);
  assert.ok(Number(result.latencyMs.response.p99) > STALL_MS / 2, 'the stall is in the response times');
  assert.equal(result.measurement.verdict, 'invalid');
  assert.ok(result.measurement.reasons.some(({ code }) => code === 'load_not_offered'));
  assert.equal(result.requirements[0].verdict, 'not proven');
});

test('arrivals dropped because the tool stalled make the measurement invalid', async () => {
  const result = await runWithStall({ rate: 200, duration: '3s', overflow: 'drop', concurrency: 2 });
  assert.ok(result.totals.dropped > 100, `${result.totals.dropped} dropped`);
  assert.equal(result.measurement.verdict, 'invalid');
  assert.ok(result.measurement.reasons.some(({ code }) => code === 'load_not_offered'));
});

test('a closed loop that stalls for more than 5 % of the time is invalid, too', async () => {
  const { measurement, totals } = await runWithStall({ concurrency: 2, duration: '3s', require: ['p50<5s'] });
  assert.equal(measurement.verdict, 'invalid');
  const { code, text } = measurement.reasons[0];
  assert.equal(code, 'load_not_offered');
  assert.match(text, /^The tool stood still for .* of 3 s, so the target received a lower load\.$/);
  assert.ok(totals.sent > 0);
});

test('so is one that stalls again and again for less than 100 ms', async (t) => {
  const { measurement } = await runWithStall({ concurrency: 2, duration: '3s' }, () => {
    const timer = setInterval(block, 100, 80);
    t.after(() => clearInterval(timer));
  });
  assert.deepEqual([measurement.verdict, measurement.reasons[0].code], ['invalid', 'load_not_offered']);
});
