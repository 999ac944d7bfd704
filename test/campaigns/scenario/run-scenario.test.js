/** The runs of a scenario, without any: who is asked when, and what becomes of the others when one refuses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runScenario } from '../../../src/campaigns/scenario/run-scenario.js';
import { PkiLoadError, targetError } from '../../../src/common/errors.js';
import { loadOfRun } from '../../../src/plan/load.js';
import { runOf } from '../../result/runs.js';

/** @import { Plan } from '../../../src/plan/plan.js' */
/** @import { Result } from '../../../src/result/schema.js' */

const DOWN = targetError('unreachable', 'http://b refused the connection.', 'Start it.');
const STOPPED = new PkiLoadError('interrupted', 'Interrupted before anything was sent.', { exitCode: 130 });

const SEEDS = [0, 1, 2].map((number) => loadOfRun(/** @type {any} */ ({ seed: 1 }), number).seed);

/** Each repeat has a seed of its own. @param {Plan} plan */
const numberOf = ({ load }) => SEEDS.indexOf(load.seed);

/**
 * @param {object} [given]
 * @param {string[]} [given.targets]
 * @param {number} [given.repeat]
 * @param {number} [given.pauseMs]
 * @param {(target: string, number: number) => Result | Error | Promise<Result>} [given.gives] a run
 * @param {AbortController} [given.stop]
 * @param {AbortSignal} [given.broken]
 * @param {ReadonlyMap<number, PkiLoadError>} [given.refused]
 * @param {() => Promise<void>} [given.onNext]
 */
async function stage({
  targets = ['a', 'b'],
  repeat = 2,
  pauseMs = 0,
  gives = () => runOf(1, 0),
  stop = new AbortController(),
  broken,
  refused = new Map(),
  onNext = async () => {},
} = {}) {
  /** @type {string[]} */
  const did = [];
  const steps = targets.map((target) => ({
    name: target,
    run: 'r',
    target,
    plan: /** @type {any} */ ({ operation: target, load: { seed: 1 } }),
  }));
  const ended = await runScenario({
    steps,
    repeat,
    pauseMs,
    stop: stop.signal,
    broken,
    refused,
    async runOnce(step, plan) {
      const number = numberOf(plan);
      did.push(`${targets[step]}${number + 1}`);
      const given = await gives(targets[step], number);
      if (given instanceof Error) throw given;
      return given;
    },
    live: {
      event: (event) => {
        if (event.type === 'warning') did.push(`warning: ${event.text}`);
        if (event.type === 'notice') did.push(event.text);
      },
      finish: async () => void did.push('finish'),
      async next(plan) {
        assert.ok(plan);
        did.push(`next ${plan.operation}${numberOf(plan) + 1}`);
        await onNext();
      },
      abandon: async () => void did.push('abandon'),
    },
    summary: {
      add: (step) => void did.push(`kept ${targets[step]}`),
      fail: (step, { code }) => void did.push(`refused ${targets[step]}: ${code}`),
    },
    between: async (step) => did.push(`written ${targets[step]}`),
  });
  return { ...ended, did };
}

describe('the runs of a scenario', () => {
  test('take turns; each is saved before the next one, which the live view announces', async () => {
    const { did, interrupted, refused, fault } = await stage();
    assert.deepEqual(did, [
      'Run 1 of 4: r on a, repeat 1 of 2:',
      ...['a1', 'finish', 'kept a', 'written a', 'next b1'],
      'Run 2 of 4: r on b, repeat 1 of 2:',
      ...['b1', 'finish', 'kept b', 'written b', 'next b2'],
      'Run 3 of 4: r on b, repeat 2 of 2:',
      ...['b2', 'finish', 'kept b', 'written b', 'next a2'],
      'Run 4 of 4: r on a, repeat 2 of 2:',
      ...['a2', 'finish', 'kept a'],
    ]);
    assert.deepEqual([interrupted, refused.size, fault], [false, 0, undefined]);
  });

  test('stop on a target that refuses, and continue on the others', async () => {
    const { did, refused, interrupted } = await stage({
      gives: (target) => (target === 'b' ? DOWN : runOf(1, 0)),
    });
    const told = did.filter((what) => /^[ab]\d$/.test(what));
    assert.deepEqual(told, ['a1', 'b1', 'a2']);
    assert.ok(did.includes('refused b: unreachable') && did.includes('abandon'));
    assert.ok(did.includes(`warning: Nothing more is sent for b: ${DOWN.full}`));
    assert.deepEqual([[...refused], interrupted], [[[1, DOWN]], false]);
  });

  test('end when a part of a joined run is lost, without the pause', { timeout: 10_000 }, async () => {
    const lost = new PkiLoadError('part_lost', 'Part 1 of 2 was lost.');
    const broken = new AbortController();
    const given = { pauseMs: 3_600_000, broken: broken.signal };
    const { did, fault, refused } = await stage({
      ...given,
      gives: (target) => (target === 'b' ? lost : runOf(1, 0)),
      onNext: async () => broken.abort(),
    });
    assert.deepEqual(
      did.filter((what) => /^[ab]\d$/.test(what)),
      ['a1', 'b1'],
    );
    assert.deepEqual([fault, refused.size], [lost, 0]);
  });

  test('end without a result if all targets refuse', async () => {
    const { did, refused } = await stage({ gives: () => DOWN });
    assert.deepEqual([refused.size, did.filter((what) => what.startsWith('kept'))], [2, []]);
  });

  test('do not start on a target whose setup failed', async () => {
    const { did, refused } = await stage({ refused: new Map([[0, DOWN]]), repeat: 1 });
    const told = did.filter((what) => /^[ab]\d$/.test(what));
    assert.deepEqual(told, ['b1']);
    assert.deepEqual([...refused.keys()], [0]);
  });

  test('end with an interrupted run', async () => {
    const { did, interrupted } = await stage({
      gives: (target) => runOf(1, 0, { interrupted: target === 'b' }),
    });
    assert.deepEqual(did.slice(-3), ['b1', 'finish', 'kept b']);
    assert.equal(interrupted, true);
  });

  test('end with a run interrupted before it sent anything; its target has not refused', async () => {
    const { interrupted, refused, did } = await stage({
      gives: (target) => (target === 'b' ? STOPPED : runOf(1, 0)),
    });
    assert.deepEqual(
      [interrupted, refused.size, did.filter((what) => what.startsWith('kept'))],
      [true, 0, ['kept a']],
    );
  });

  test('end with an error that the interruption caused', async () => {
    const stop = new AbortController();
    const { interrupted, refused } = await stage({
      stop,
      gives: () => {
        stop.abort();
        return DOWN;
      },
    });
    assert.deepEqual([interrupted, refused.size], [true, 0]);
  });

  test('wait neither for a pause nor for the live view when stopped', async () => {
    const stop = new AbortController();
    const { did, interrupted } = await stage({
      stop,
      pauseMs: 86_400_000,
      onNext: () => {
        setImmediate(() => stop.abort());
        return new Promise(() => {});
      },
    });
    assert.equal(interrupted, true);
    const told = did.filter((what) => /^[ab]\d$/.test(what));
    assert.deepEqual(told, ['a1']);
  });

  test('end on an internal error, and keep the earlier results', async () => {
    const fault = new Error('a bug');
    const ended = await stage({ gives: (target) => (target === 'b' ? fault : runOf(1, 0)) });
    assert.equal(ended.fault, fault);
    assert.ok(ended.did.includes('kept a') && !ended.did.includes('a2'));
  });
});
