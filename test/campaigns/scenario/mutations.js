// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of scenarios
/** Whatever becomes of a good scenario, it is taken or refused in words; nothing crashes, and nothing takes long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { PkiLoadError } from '../../../src/common/errors.js';
import { readAndPlan } from './read.js';

const GOOD = `$schema: scenario.schema.json
name: everything
description: What a scenario may hold.
env: [URL=http://127.0.0.1:8200, RATE=5]
setup: {name: load, ca-key-type: ec, with: [kv]}
targets:
  - {name: a, url: '\${URL}', mount: pki_int}
  - {name: b, token-env: B_TOKEN, tls-skip-verify: true}
load: &load {concurrency: 4, timeout: 5s, seed: 1}
require: ['errors<1%']
runs:
  - name: mixed
    mix:
      - {operation: issue, weight: 3, options: {cn: 'a-{n}.example.com', alt-names: [b, c]}, require: ['p99<1s']}
      - {operation: http, name: bad, options: {method: POST, path: /v1/x, token: bad, status: [403], body: '{}'}}
    stages:
      - ramp: {from: 0, to: '\${RATE}/s', duration: 10s}
      - {name: up, steps: {from: 5, to: 50, by: 5, every: 1s}, require: ['p50<1s']}
      - burst: {base: 1, peak: 9, every: 5s, for: 1s, duration: 20s}
  - name: peak
    load: {model: closed, duration: 2s}
    mix: [{operation: kv-write, options: {kv-version: 2}}]
repeat: 2
pause: 1s
out: [a.json]
`;

/** @param {string} text */
async function takenOrRefused(text) {
  try {
    await readAndPlan(text);
    return 'taken';
  } catch (error) {
    assert.ok(error instanceof PkiLoadError, `${/** @type {Error} */ (error).stack}\n${text}`);
    assert.match(error.message, /\S{2}.*[.!?]$/s, text);
    assert.doesNotMatch(
      error.full,
      /\bundefined\b|\[object|NaN:|invalid_|ZodError/,
      `${error.full}\n${text}`,
    );
    // Whatever is wrong with the file is wrong somewhere in it.
    if (error.code === 'bad_scenario') assert.match(error.message, /^s\.yaml(?::\d+:\d+)?: /);
    return 'refused';
  }
}

const piece = fc.oneof(
  fc.constantFrom(
    ...'{}[]:,#&*!|>%@`"\'-?\t\n \\$~0',
    '${',
    '<<: ',
    '---\n',
    '*load',
    '&load ',
    'name',
    'null',
    '.inf',
    '-1',
  ),
  fc.string({ maxLength: 3 }),
);
const edit = fc.record({
  at: fc.integer({ min: 0, max: GOOD.length }),
  cut: fc.integer({ min: 0, max: 12 }),
  put: piece,
});

const odd = fc.oneof(
  fc.constantFrom(
    null,
    true,
    '',
    0,
    -1,
    1e300,
    0.5,
    Number.MAX_SAFE_INTEGER,
    [],
    {},
    { toString: [null] },
    [[]],
    '${URL}',
    '${',
    'issue',
    '5s',
    ['p99<1s'],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** @param {any} value @returns {{holder: any, key: string | number}[]} every place in it */
function placesIn(value) {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => [{ holder: value, key }, ...placesIn(value[key])]);
}

/** Tests with that many mutations. @param {number} count */
export function testMutations(count) {
  test('accepts the original', async () => assert.equal(await takenOrRefused(GOOD), 'taken'));

  test('random changes of characters', async () => {
    const seen = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        const text = edits.reduce(
          (now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut),
          GOOD,
        );
        seen[await takenOrRefused(text)]++;
      }),
      { numRuns: Math.ceil(0.4 * count), seed: 5 },
    );
    assert.ok(seen.taken > count / 200 && seen.refused > count / 5, JSON.stringify(seen));
  });

  test('random replacements, removals and insertions of values', async () => {
    const seen = { taken: 0, refused: 0 };
    const change = fc.record({
      pick: fc.nat(),
      how: fc.constantFrom('replace', 'remove', 'rename', 'add'),
      value: odd,
      key: fc.oneof(
        fc.constantFrom('__proto__', 'constructor', 'toString', 'rate', 'hold', 'length'),
        fc.string(),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const scenario = parse(GOOD);
        for (const { pick, how, value, key } of changes) {
          const places = placesIn(scenario);
          if (places.length === 0) break;
          const { holder, key: at } = places[pick % places.length];
          const own = how === 'replace' ? value : holder[at];
          if (how === 'remove' || how === 'rename') delete holder[at];
          if (how === 'replace') holder[at] = own;
          if (Array.isArray(holder)) {
            if (how === 'add') holder.push(value);
          } else if (how === 'rename' || how === 'add') {
            Object.defineProperty(holder, key, {
              value: how === 'add' ? value : own,
              enumerable: true,
              configurable: true,
              writable: true,
            });
          }
        }
        seen[await takenOrRefused(stringify(scenario))]++;
      }),
      { numRuns: Math.ceil(0.3 * count), seed: 6 },
    );
    assert.ok(seen.taken > count / 200 && seen.refused > count / 10, JSON.stringify(seen));
  });

  test('arbitrary text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ maxLength: 300 }),
          fc.array(piece, { maxLength: 60 }).map((all) => all.join('')),
        ),
        async (text) => {
          await takenOrRefused(text);
        },
      ),
      { numRuns: Math.ceil(0.3 * count), seed: 7 },
    );
  });
}
