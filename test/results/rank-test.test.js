import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  ALPHA,
  combinations,
  mannWhitney,
  normalUpperTail,
  runsNeeded,
  smallestPValue,
} from '../../src/results/comparison/rank-test.js';

/** Vectors computed by scipy: `python3 test/results/fixtures/make-compare.py`. */
const FIXTURES = new URL('./fixtures/compare.json', import.meta.url);

/**
 * @param {number} actual
 * @param {number} expected
 * @param {number} relative
 * @param {string} what
 */
function near(actual, expected, relative, what) {
  assert.ok(
    Math.abs(actual - expected) <= relative * Math.abs(expected),
    `${what}: ${actual}, expected ${expected}`,
  );
}

/** Counted by hand. @type {[string, number[], number[], {u: number, p: number}][]} */
const EXACT = [
  ['one and one run: one of two orders, twice', [1], [2], { u: 0, p: 1 }],
  ['three below three: 2 of 20', [1, 2, 3], [4, 5, 6], { u: 0, p: 2 / 20 }],
  ['three above three: the same', [4, 5, 6], [1, 2, 3], { u: 9, p: 2 / 20 }],
  ['four below four: 2 of 70', [1, 2, 3, 4], [5, 6, 7, 8], { u: 0, p: 2 / 70 }],
  ['five below five: 2 of 252', [1, 2, 3, 4, 5], [6, 7, 8, 9, 10], { u: 0, p: 2 / 252 }],
  ['alternating: U <= 3 in 7 of 20', [1, 3, 5], [2, 4, 6], { u: 3, p: 14 / 20 }],
  ['two below five: 2 of 21', [1, 2], [3, 4, 5, 6, 7], { u: 0, p: 2 / 21 }],
  ['five above two: the same', [3, 4, 5, 6, 7], [1, 2], { u: 10, p: 2 / 21 }],
  ['all equal: every order is as far out', [5, 5, 5, 5], [5, 5, 5, 5], { u: 8, p: 1 }],
  ['equal within, apart between: as without ties', [1, 1, 1, 1], [2, 2, 2, 2], { u: 0, p: 2 / 70 }],
  ['ranks 1 3 3 5 of 1 3 3 3 5 6 7 8: sum <= 12 in 4 of 70', [1, 2, 2, 3], [2, 4, 5, 6], { u: 2, p: 8 / 70 }],
  ['a tie that leaves the distribution lopsided: the smaller tail, twice', [2], [1, 1], { u: 2, p: 2 / 3 }],
  ['a tie across: half of the orders', [1, 1], [1, 2], { u: 1, p: 1 }],
];

describe('exact Mann-Whitney', () => {
  for (const [why, a, b, { u, p }] of EXACT) {
    test(why, () => {
      const found = mannWhitney(a, b);
      assert.equal(found.method, 'exact');
      assert.equal(found.u, u);
      near(found.pValue, p, 1e-12, 'p');
    });
  }

  test('is the same for either order of the groups and of the runs, and whatever rises with the values', () => {
    const values = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(values, values, (a, b) => {
        const { u, pValue } = mannWhitney(a, b);
        assert.ok(pValue > 0 && pValue <= 1);
        const turned = mannWhitney(b, [...a].reverse());
        assert.equal(turned.u, a.length * b.length - u);
        near(turned.pValue, pValue, 1e-12, 'turned');
        near(mannWhitney(a.map(Math.exp), b.map(Math.exp)).pValue, pValue, 1e-12, 'of the exponentials');
      }),
    );
  });

  test('counts what going through every combination counts', () => {
    const values = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(values, values, (a, b) => near(mannWhitney(a, b).pValue, enumerated(a, b), 1e-12, 'p')),
    );
  });
});

/**
 * The same by going through every choice of runs, pair by pair.
 *
 * @param {number[]} a
 * @param {number[]} b
 */
function enumerated(a, b) {
  const all = [...a, ...b];
  const observed = uOf(a, b);
  let [atMost, atLeast, ways] = [0, 0, 0];
  for (let mask = 0; mask < 2 ** all.length; mask += 1) {
    const chosen = all.filter((_, i) => (mask >> i) & 1);
    if (chosen.length !== a.length) continue;
    const u = uOf(
      chosen,
      all.filter((_, i) => !((mask >> i) & 1)),
    );
    ways += 1;
    if (u <= observed) atMost += 1;
    if (u >= observed) atLeast += 1;
  }
  return Math.min(1, (2 * Math.min(atMost, atLeast)) / ways);
}

/** @param {number[]} a @param {number[]} b */
function uOf(a, b) {
  return a.reduce((sum, x) => sum + b.reduce((inner, y) => inner + (x > y ? 1 : x === y ? 0.5 : 0), 0), 0);
}

describe('many runs', () => {
  const runs = (/** @type {number} */ n, /** @type {number} */ from) =>
    Array.from({ length: n }, (_, i) => from + 2 * i);

  /** @type {[string, number, number, 'exact' | 'asymptotic'][]} */
  const METHODS = [
    ['10 and 10 are counted', 10, 10, 'exact'],
    ['11 and 11, too', 11, 11, 'exact'],
    ['50 and 50, too, though they are more combinations than a double can tell apart', 50, 50, 'exact'],
    ['so are 2 and 600, whose sums are few', 2, 600, 'exact'],
    ['and 600 and 2', 600, 2, 'exact'],
    ['100 and 100 would take seconds', 100, 100, 'asymptotic'],
  ];
  for (const [why, n, m, method] of METHODS) {
    test(`${why}: ${method}`, () => {
      const found = mannWhitney(runs(n, 0), runs(m, 1));
      assert.equal(found.method, method);
      assert.ok(found.pValue > 0 && found.pValue <= 1, `${found.pValue}`);
    });
  }

  /** @type {[string, number, number][]} */
  const FARTHEST = [
    ['2 below 600: 2 of 180,901 orders, which the approximation takes for 0.015', 2, 600],
    ['11 below 11', 11, 11],
    ['50 below 50: nothing is lost to rounding', 50, 50],
  ];
  for (const [why, n, m] of FARTHEST) {
    test(why, () => {
      const [low, high] = [runs(n, 0), runs(m, 2 * n)];
      near(mannWhitney(low, high).pValue, 2 / combinations(n + m, n), 1e-12, 'p');
      near(mannWhitney(high, low).pValue, 2 / combinations(n + m, n), 1e-12, 'turned');
    });
  }

  test('50 and 50 that take turns differ by nothing, exactly as far as by the approximation', () => {
    const [a, b] = [runs(50, 0), runs(50, 1)];
    const [exact, approximate] = [mannWhitney(a, b, 'exact'), mannWhitney(a, b, 'asymptotic')];
    assert.ok(Math.abs(exact.pValue - approximate.pValue) < 1e-3, `${exact.pValue} ${approximate.pValue}`);
  });

  test('z = (9 - 4.5 - 0.5) / sqrt(5.25) of three below three', () => {
    const { pValue } = mannWhitney([1, 2, 3], [4, 5, 6], 'asymptotic');
    near(pValue, 2 * normalUpperTail(4 / Math.sqrt(5.25)), 1e-12, 'p');
    near(pValue, 0.0808556, 1e-5, 'as R and scipy say');
  });

  test('all equal shows nothing', () => {
    const same = new Array(15).fill(3);
    assert.equal(mannWhitney(same, same).pValue, 1);
  });

  test('the approximation is close where counting is possible, too', () => {
    for (const shift of [0.5, 4.5, 8.5, 12.5]) {
      const a = Array.from({ length: 10 }, (_, i) => 2 * i);
      const b = a.map((value) => value + shift);
      const [exact, approximate] = [mannWhitney(a, b, 'exact'), mannWhitney(a, b, 'asymptotic')];
      assert.ok(Math.abs(exact.pValue - approximate.pValue) < 0.01, `${exact.pValue} ${approximate.pValue}`);
    }
  });

  test('upper tails of the normal distribution', () => {
    for (const [z, tail] of [
      [0, 0.5],
      [1, 0.15865525393145707],
      [1.96, 0.024997895148220435],
      [3, 0.0013498980316300933],
      [5, 2.866515718791939e-7],
      [10, 7.61985302416047e-24],
      [-1, 0.8413447460685429],
    ]) {
      near(normalUpperTail(z), tail, 1e-10, `at ${z}`);
    }
  });
});

describe('how many runs can show anything', () => {
  /** @type {[number, number, number][]} */
  const TABLE = [
    [1, 1, 1],
    [3, 3, 2 / 20],
    [4, 4, 2 / 70],
    [3, 4, 2 / 35],
    [3, 5, 2 / 56],
    [2, 8, 2 / 45],
    [1, 39, 2 / 40],
    [0, 5, 1],
  ];
  for (const [n, m, p] of TABLE) {
    test(`${n} and ${m} runs: no p-value below ${p.toPrecision(3)}`, () => {
      near(smallestPValue(n, m), p, 1e-12, 'smallest');
      if (n === 0) return;
      const [low, high] = [
        Array.from({ length: n }, (_, i) => i),
        Array.from({ length: m }, (_, i) => n + i),
      ];
      near(mannWhitney(low, high).pValue, p, 1e-12, 'and it does come out');
    });
  }

  test('4 of each are the fewest; 1 and 39 just miss', () => {
    assert.equal(runsNeeded(), 4);
    assert.ok(smallestPValue(3, 3) >= ALPHA && smallestPValue(4, 4) < ALPHA);
    assert.ok(smallestPValue(1, 39) >= ALPHA && smallestPValue(1, 40) < ALPHA);
  });
});

describe('agrees with scipy', () => {
  /** @type {Record<'exact' | 'permutation' | 'asymptotic', {a: number[], b: number[], u: number, p: number}[]>} */
  const vectors = JSON.parse(readFileSync(FIXTURES, 'utf8'));
  for (const [name, method] of /** @type {const} */ ([
    ['exact', 'exact'],
    ['permutation', 'exact'],
    ['asymptotic', 'asymptotic'],
  ])) {
    test(`${name}, ${method}`, () => {
      assert.ok(vectors[name].length > 0);
      for (const { a, b, u, p } of vectors[name]) {
        const found = mannWhitney(a, b, method);
        assert.equal(found.u, u, `${a} and ${b}`);
        near(found.pValue, p, 1e-9, `${a} and ${b}`);
      }
    });
  }
});
