import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextSteps } from '../../src/reporters/next-steps.js';
import { render } from '../../src/reporters/terminal.js';
import { closedLoad, openLoad, sampleResult, spread } from '../results/sample.js';
import { SAMPLES } from './samples.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

test('the answer comes first: requirements, then whether to believe them, then what was reached', () => {
  const lines = render(SAMPLES['requirement-not-met']).split('\n');
  const at = (/** @type {RegExp} */ pattern) => lines.findIndex((line) => pattern.test(line));
  assert.equal(at(/^not met {7}p99<50ms$/), 0);
  const order = [
    /^not proven {4}p50<60ms$/,
    /^Measurement {3}valid$/,
    /^Steady rate {3}19\.5\/s = 70,200 OCSP responses an hour$/,
    /^Response {6}p50 /,
    /^Errors {8}10 of 400 \(2\.5 %\): 8 timeout, 2 bad_signature$/,
    /^ocsp on http:/,
    /^Requests /,
    /^Latency /,
    /^Response time /,
    /^Outcomes /,
    /^Verified /,
    /^Next {10}--timeout: /,
  ].map(at);
  assert.ok(
    order.every((line, i) => line > (order[i - 1] ?? 0)),
    order.join(),
  );
});

/** @type {[string, Result, RegExp][]} */
const SAID = [
  ['an interrupted run', SAMPLES['no-samples'], /^Interrupted: this is what was measured until then\.$/m],
  [
    'an unfinished run',
    SAMPLES.unfinished,
    /^Unfinished: the run was still going on when this was written\.$/m,
  ],
  ['no verdict before the end', SAMPLES.unfinished, /^Measurement {3}judged when the run has ended$/m],
  ['what is not answered yet', SAMPLES.unfinished, /dropped {2}unanswered$/m],
  ['no time of no answer', SAMPLES['no-samples'], /^Response {6}nothing was measured$/m],
  ['no error of no request', SAMPLES['no-samples'], /^Errors {8}nothing was measured$/m],
  ['no error of good answers', SAMPLES['closed-loop-issue'], /^Errors {8}none$/m],
  [
    'a rate too low for whole certificates',
    SAMPLES['one-request'],
    /0\.00025\/s = 0\.9 certificates an hour/,
  ],
  ['ten million', SAMPLES['ten-million'], /^ +10,000,000 {2}10,000,000 {2}9,990,000 {2}10,000 /m],
  [
    'a shard',
    sampleResult([], {
      shard: { index: 1, of: 4 },
      target: { url: 'http://a', product: null, version: null },
    }),
    /^ocsp on http:\/\/a, open loop at 20\/s, 20 s, shard 1\/4$/m,
  ],
];

for (const [what, result, pattern] of SAID) {
  test(`it is said: ${what}`, () => assert.match(render(result), pattern));
}

test('what a server says of itself cannot drive the terminal', () => {
  const target = { url: 'http://127.0.0.1:8200', product: 'Va\u001b[2Jult', version: '1\n2' };
  const text = render(sampleResult([], { target }));
  assert.match(text, /Va\?\[2Jult 1\?2/);
});

/** @param {string} code @param {Partial<Result>} [changes] */
function against(code, changes) {
  return sampleResult([{ outcome: 'good', service: spread(400, 1, 2) }], {
    measurement: { verdict: 'invalid', reasons: [{ code, text: 'Something.', remedy: 'Do this.' }] },
    ...changes,
  });
}

const GOOD = [{ outcome: 'good', service: spread(400, 1, 2) }];
const MET = /** @type {const} */ ({
  text: 'p99<1s',
  verdict: 'met',
  actual: 2,
  limit: 1000,
  unit: 'ms',
  reason: '',
});

/** @type {[string, Result, string[]][]} what the result says, result, what the steps point at */
const STEPS = [
  ['the tool sent late', against('send_lag'), ['vault-pki-load calibrate --concurrency 10 --threads 1']],
  [
    'the same step for two reasons stands once',
    sampleResult(GOOD, {
      measurement: {
        verdict: 'invalid',
        reasons: [
          { code: 'send_lag', text: '' },
          { code: 'read_lag', text: '' },
        ],
      },
    }),
    ['vault-pki-load calibrate --concurrency 10 --threads 1'],
  ],
  ['a thread had no time', against('tool_saturated', { load: openLoad({ threads: 2 }) }), ['--threads 3']],
  ['the backlog grew', against('backlog_growing'), ['--rate']],
  [
    'the backlog grew in a closed loop',
    against('backlog_growing', { load: closedLoad() }),
    ['--concurrency'],
  ],
  ['a reason that is not known: its own remedy', against('news'), ['']],
  ['a reason named as what every object has', against('constructor'), ['']],
  [
    'errors, the most frequent first, before the requirement',
    sampleResult([
      { outcome: 'rate_limited', success: false, service: [1] },
      { outcome: 'timeout', success: false, service: [1, 2] },
      { outcome: 'unavailable', success: false, service: [] },
    ]),
    ['--timeout', 'vault list sys/quotas/rate-limit', "--require 'p99<200ms'"],
  ],
  ['nothing is required', sampleResult(GOOD), ["--require 'p99<200ms'"]],
  ['all is met', sampleResult(GOOD, { requirements: [MET] }), ['--repeat 10']],
  [
    'something is not met',
    sampleResult(GOOD, { requirements: [MET, { ...MET, verdict: 'not met' }] }),
    ['--out result.html'],
  ],
  [
    'something is not proven',
    sampleResult(GOOD, { requirements: [{ ...MET, verdict: 'not proven' }] }),
    ['--duration'],
  ],
  [
    'the backlog grew in stages, of which --rate would take the place',
    {
      ...SAMPLES.staged,
      ...against('backlog_growing'),
      load: SAMPLES.staged.load,
      stages: SAMPLES.staged.stages,
    },
    [''],
  ],
  [
    'something is not proven in stages, of which --duration would take the place',
    {
      ...sampleResult(GOOD, { requirements: [{ ...MET, verdict: 'not proven' }] }),
      load: SAMPLES.staged.load,
    },
    [''],
  ],
  ['nothing was sent', sampleResult([], { requirements: [MET] }), []],
  ['the run goes on', SAMPLES.unfinished, []],
];

describe('what to look at next', () => {
  for (const [what, result, points] of STEPS) {
    test(what, () => {
      assert.deepEqual(
        nextSteps(result).map(({ point }) => point),
        points,
      );
    });
  }

  /** @type {[string, string, string][]} */
  const PAGES = [
    ['without a page', 'vault-pki-load ocsp --out r.json', '--out result.html'],
    ['with one', 'vault-pki-load ocsp --out r.json --out r.html --rate 5', '--out r.html'],
    ['with one at the end', 'vault-pki-load ocsp --out=/tmp/R.HTML', '--out /tmp/R.HTML'],
    ['with one in quotes', "vault-pki-load ocsp --out 'my r.html'", "--out 'my r.html'"],
    ['with a folder that is called so', 'vault-pki-load ocsp --out a.html/r.json', '--out result.html'],
    ['with a name that is called so', 'vault-pki-load ocsp --cn r.html', '--out result.html'],
  ];
  for (const [what, command, point] of PAGES) {
    test(`where a requirement is not met, ${what}: ${point}`, () => {
      const result = sampleResult(GOOD, { requirements: [{ ...MET, verdict: 'not met' }] });
      const [step] = nextSteps({ ...result, command });
      assert.equal(step.point, point);
      const has = point !== '--out result.html';
      assert.equal(step.text, `${has ? 'this report ' : ''}draws when it was slow, and how slow`);
    });
  }

  test('names the stage that did worst, by its own figures', () => {
    const { load, stages } = SAMPLES.staged;
    const [step] = nextSteps({ ...against('sends_short_of_plan'), load, stages });
    assert.match(step.text, /^in the stage a \| burst, \d+ of 110 requests succeeded; let it ask for less$/);
  });

  test('is no more than four things', () => {
    const reasons = ['send_lag', 'tool_saturated', 'machine_saturated', 'still_changing', 'local_limits'];
    const result = sampleResult(GOOD, {
      measurement: { verdict: 'suspect', reasons: reasons.map((code) => ({ code, text: '' })) },
    });
    assert.equal(nextSteps(result).length, 4);
  });
});
