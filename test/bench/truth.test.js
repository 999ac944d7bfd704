import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { figuresOf, judgeVerdict, limitsAround, placeTruth } from './grid.js';
import { closedRate, openRate, queue, truthOf } from './truth.js';

const LOAD = { planned: 4, dueMs: (/** @type {number} */ k) => k * 10, connections: 1, giveUpMs: 1000 };

describe('the truth of response times', () => {
  /** @type {[string, number[], Partial<typeof LOAD>, number[]][]} */
  const rows = [
    ['no request waits while a connection is free', [5, 5, 5, 5], {}, [5, 5, 5, 5]],
    ['a slow request delays the next ones until the backlog is gone', [25, 5, 5, 5], {}, [25, 20, 15, 10]],
    ['a second connection takes the next request', [25, 5, 5, 5], { connections: 2 }, [25, 5, 5, 5]],
    ['one connection, overloaded: the wait grows', [20, 20, 20, 20], {}, [20, 30, 40, 50]],
    ['never captured: counts with the median', [5, 7, 7], {}, [5, 7, 7, 7]],
    [
      'not started when the tool gives up: counts with its age',
      [50, 50, 50, 50],
      { giveUpMs: 45 },
      [50, 35, 25, 15],
    ],
  ];
  for (const [sentence, serviceMs, load, expected] of rows) {
    it(sentence, () => assert.deepEqual([...queue(serviceMs, { ...LOAD, ...load })], expected));
  }

  it('a single server handles one request at a time, whatever the connections', () => {
    const load = { ...LOAD, connections: 4, serverMs: 15 };
    assert.deepEqual([...queue([1, 1, 1, 1], load)], [16, 21, 26, 31]);
    const two = { ...LOAD, connections: 2, serverMs: 15 };
    assert.deepEqual([...queue([0, 0, 0, 0], two)], [15, 20, 25, 30]);
  });

  it('idle time of a single server that a late tool causes does not count', () => {
    const begin = 1_000_000_000n;
    const ns = (/** @type {number} */ ms) => begin + BigInt(ms * 1e6);
    const load = /** @type {any} */ ({
      ...{ model: 'open', ratePerSecond: 100, durationMs: 40, timeoutMs: 1000, concurrency: 4 },
      ...{ arrivals: 'constant', seed: 1, requests: null, rampUpMs: 0, warmupMs: 0 },
    });
    const totals = /** @type {any} */ ({ planned: 4 });
    // Sent 50 ms apart instead of 10: each found the server idle, and took 1 ms more than its 15.
    const exchanges = [0, 50, 100, 150].map((ms) => ({
      requestAtNs: ns(ms),
      responseAtNs: ns(ms + 16),
      port: 1,
    }));
    const of = (/** @type {number | undefined} */ serverMs) =>
      [...truthOf(exchanges, { load, totals, startedAtMonotonicNs: String(begin) }, serverMs).responses].map(
        Math.round,
      );
    assert.deepEqual(of(undefined), [16, 16, 16, 16]);
    assert.deepEqual(of(15), [16, 21, 26, 31]);
  });

  it('with one connection per request, equals the time on the wire', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 30 }),
        (serviceMs) => {
          const load = { ...LOAD, planned: serviceMs.length, connections: serviceMs.length };
          assert.deepEqual([...queue(serviceMs, load)], serviceMs);
        },
      ),
    );
  });

  it('a request without a response counts with the timeout; in a closed loop, no wait is added', () => {
    const ns = (/** @type {number} */ ms) => BigInt(ms * 1e6);
    const exchanges = [
      { requestAtNs: ns(100), responseAtNs: ns(105), port: 1 },
      { requestAtNs: ns(108), responseAtNs: null, port: 2 },
    ];
    const load = /** @type {any} */ ({ model: 'closed', durationMs: 10, timeoutMs: 40, concurrency: 2 });
    const totals = /** @type {any} */ ({ planned: 2 });
    const truth = truthOf(exchanges, { load, totals, startedAtMonotonicNs: String(ns(100)) });
    assert.deepEqual([...truth.responses], [5, 40]);
    assert.equal(truth.perSecond, 100);
  });
});

describe('the truth of rates', () => {
  it('closed loop: measured until the last response', () => {
    assert.equal(closedRate([50, 100], 100), 20);
    assert.equal(closedRate([50, 100, 150, 200], 100), 20);
    assert.equal(closedRate([10], 100), 10);
  });

  it('open loop: counts all requests if the target kept up', () => {
    assert.equal(openRate([60, 110, 180], [50, 50, 90], 100), 30);
  });

  it('open loop, overloaded: counts responses in the window, shifted by a service time', () => {
    assert.equal(openRate([60, 110, 160, 210], [50, 50, 50, 50], 100), 20);
  });
});

describe('limits around the expected figures', () => {
  const truth = { responses: Float64Array.from({ length: 100 }, (_, i) => i + 1), perSecond: 50 };

  it('the true figures', () => {
    assert.deepEqual(figuresOf(truth), { p50: 50, p95: 95, p99: 99, max: 100, rate: 50 });
  });

  it('from 0.3 to 4 times each time, from 0.3 to 2 times the rate', () => {
    const texts = limitsAround(figuresOf(truth)).map(({ text }) => text);
    assert.equal(texts.length, 56);
    assert.equal(new Set(texts).size, 56);
    for (const text of [
      'p50<15.000ms',
      'p50<200.000ms',
      'max<400.000ms',
      'rate>=15.000/s',
      'rate>=100.000/s',
    ])
      assert.ok(texts.includes(text), text);
  });
});

describe('verdicts against the truth', () => {
  /** @type {[string, 'p99' | 'rate', number, 'met' | 'not met' | 'not proven', number, boolean, string][]} */
  const rows = [
    ['a time within its limit', 'p99', 10, 'met', 5, false, 'correct'],
    ['a time beyond it', 'p99', 10, 'met', 10.3, false, 'false pass'],
    ['beyond it by less than 2 %', 'p99', 10, 'met', 10.1, false, 'correct'],
    ['not met, correctly', 'p99', 10, 'not met', 11, false, 'correct'],
    ['not met, although it is', 'p99', 10, 'not met', 9, false, 'false fail'],
    ['not met by less than 2 %', 'p99', 10, 'not met', 9.9, false, 'correct'],
    ['not proven, close to the limit', 'p99', 10, 'not proven', 6, false, 'borderline'],
    ['not proven, far within', 'p99', 10, 'not proven', 5, false, 'inconclusive'],
    ['not proven, far beyond', 'p99', 10, 'not proven', 20, false, 'inconclusive'],
    ['a rate above its limit', 'rate', 10, 'met', 20, false, 'correct'],
    ['a rate below it', 'rate', 10, 'met', 9, false, 'false pass'],
    ['a sufficient rate reported as not met', 'rate', 10, 'not met', 11, false, 'false fail'],
    ['a rate not proven, twice the limit', 'rate', 10, 'not proven', 20, false, 'inconclusive'],
    ['a rate of at least half the limit', 'rate', 10, 'not proven', 5, true, 'unknown'],
    ['a lower bound below the limit', 'rate', 10, 'not met', 9, true, 'unknown'],
    ['a limit above the lower bound, reported as met', 'rate', 10, 'met', 9, true, 'false pass'],
    ['a lower bound above the limit, reported as not met', 'rate', 10, 'not met', 11, true, 'false fail'],
  ];
  for (const [sentence, figure, limit, verdict, known, isLowerBound, expected] of rows) {
    it(`${sentence}: ${expected}`, () =>
      assert.equal(judgeVerdict({ figure, limit }, verdict, known, isLowerBound), expected));
  }
});

describe('bars around the truth', () => {
  /** @type {[number, number | null, number, string][]} */
  const rows = [
    [5, 10, 7, 'inside'],
    [5, 10, 5, 'inside'],
    [5, 10, 4.9, 'below'],
    [5, 10, 10.1, 'above'],
    [5, 10, 10.005, 'inside'],
    [5, null, 1000, 'inside'],
    [5, null, 1, 'below'],
  ];
  for (const [low, high, truth, expected] of rows) {
    it(`${truth} is ${expected} the bar ${low} to ${high}`, () =>
      assert.equal(placeTruth({ low, high }, truth), expected));
  }
});
