import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { render, summarise } from '../../../src/campaigns/calibrate/report.js';
import { CALIBRATION } from './sample.js';

/** Golden text is written anew with UPDATE_GOLDEN=1; look at the difference before committing it. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

const whole = { ...CALIBRATION, summary: summarise(CALIBRATION) };

test('a calibration, as agreed on, in 80 columns', () => {
  const file = new URL('golden/calibration.txt', import.meta.url);
  const text = render(whole);
  if (UPDATE) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'));
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
});

test('where nothing was seen there is a dash, never a zero', () => {
  const none = { count: 0, p50: null, p99: null, max: null };
  const [row] = CALIBRATION.lateness;
  const text = render({ ...whole, lateness: [{ ...row, samples: 0, seenMs: none, ownMs: none }] });
  assert.match(text, /^20\/s +0(?: +–){6}$/m);
});

test('one core and no honest rate are said', () => {
  const text = render({
    ...whole,
    environment: { ...whole.environment, cpus: 1 },
    honestRate: { ...whole.honestRate, ratePerSecond: null },
  });
  assert.match(text, /^1 core \(Some Processor\), Node v20\.20\.2$/m);
  assert.match(text, /^Highest {7}none$/m);
});
