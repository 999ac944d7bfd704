/** Documents of all kinds, damaged by a seed and a number: each is refused with its place, or read. */
import assert from 'node:assert/strict';
import { PkiLoadError } from '../../src/common/errors.js';
import { uniform } from '../../src/common/random.js';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { parseDocument } from '../../src/result/read-document.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { clusterSample } from '../campaigns/propagation/sample.js';
import { sampleSearch } from '../campaigns/search/sample.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';
import { runsOf, slower, TEN } from './runs.js';
import { mixedRun, scenarioOf } from './scenario-sample.js';

const LOAD = { ratePerSecond: 20, durationMs: 2000, seed: 3 };

const run = syntheticRun({ load: LOAD, requirements: ['p99<10s'] });
const groups = [
  { name: 'old', runs: runsOf(TEN.slice(0, 2), 0) },
  { name: 'new', runs: runsOf(slower(1.1).slice(0, 2), 1) },
];

/** JSON of one document of each kind, and of a part of a plan. */
export const DOCUMENTS = [
  run,
  syntheticParts({ load: LOAD }, [1, 1])[1],
  createRunSet('nightly', [run]),
  compareGroups(groups, { resamples: 10, failIf: ['p99 slower by 5%'] }),
  scenarioOf({ inmem: [mixedRun(1, 0)], raft: [mixedRun(1.5, 1)] }),
  clusterSample(),
  await sampleSearch(),
].map((document) => JSON.stringify(document));

/** @typedef {(limit: number) => number} Draw a whole number below the limit */

/** Stand in place of a value; undefined: nothing. */
const VALUES = [
  undefined,
  null,
  /** @type {any} */ ({ toString: [null] }),
  -1,
  0.5,
  1e9,
  2 ** 53,
  Number.MAX_VALUE,
  '',
  '\u001b[2J\u009b\u202e',
  'HISTFAAAAgarbage',
  [],
  {},
  true,
  '__proto__',
];

/** Change a list or an object at one of its keys. @type {((within: any, key: string, draw: Draw) => void)[]} */
const CHANGES = [
  (within, key) => (Array.isArray(within) ? within.splice(Number(key), 1) : delete within[key]),
  (within, key, draw) => {
    within[key] = VALUES[draw(VALUES.length)];
  },
  (within, key, draw) => {
    const other = Object.keys(within)[draw(Object.keys(within).length)];
    [within[key], within[other]] = [within[other], within[key]];
  },
  (within, key) => {
    if (Array.isArray(within)) within.push(within[Number(key)]);
    else
      Object.defineProperty(within, '__proto__', {
        value: within[key],
        enumerable: true,
        writable: true,
        configurable: true,
      });
  },
  (within, key) => {
    if (typeof within[key] === 'number') within[key] *= -1e300;
    else within[key] = [within[key]];
  },
  (within, key, draw) => {
    if (typeof within[key] !== 'string') return;
    const at = draw(within[key].length + 1);
    within[key] = `${within[key].slice(0, at)}${String.fromCharCode(draw(256))}${within[key].slice(at + 1)}`;
  },
];

/** @param {string} json @param {Draw} draw */
function damage(json, draw) {
  if (draw(10) === 0) return json.slice(0, draw(json.length));
  const document = JSON.parse(json);
  for (let left = 1 + draw(2); left > 0; left--) {
    let within = document;
    for (let depth = 0; depth < 12; depth++) {
      const keys = Object.keys(within);
      if (keys.length === 0) break;
      const key = keys[draw(keys.length)];
      const inner = within[key];
      if (typeof inner !== 'object' || inner === null || draw(8) === 0) {
        CHANGES[draw(CHANGES.length)](within, key, draw);
        break;
      }
      within = inner;
    }
  }
  return JSON.stringify(document);
}

/**
 * @param {number} seed
 * @param {number} count
 * @returns {{read: number, refused: number}}
 */
export function readDamaged(seed, count) {
  const counts = { read: 0, refused: 0 };
  for (let number = 0; number < count; number++) {
    let drawn = 0;
    const draw = (/** @type {number} */ limit) => Math.floor(uniform(seed, number * 64 + drawn++, 5) * limit);
    const file = Buffer.from(damage(DOCUMENTS[number % DOCUMENTS.length], draw));
    try {
      parseDocument(file, 'r.json');
      counts.read++;
    } catch (error) {
      assert.ok(error instanceof PkiLoadError, `seed ${seed}, number ${number}: ${Object(error).stack}`);
      assert.match(error.full, /r\.json \S/, `number ${number}`);
      assert.doesNotMatch(error.full, /[\p{Cc}\p{Bidi_Control}]/u, `number ${number}`);
      counts.refused++;
    }
  }
  return counts;
}
