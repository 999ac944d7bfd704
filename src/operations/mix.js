/**
 * One operation, or several by weight. Which of them request `index` is follows from the plan's seed and the index alone, so
 * all threads and machines agree.
 */
import { targetError } from '../common/errors.js';
import { loadOperation } from './index.js';
import { createChooser } from './request-parts.js';
/** @import { Request } from '../http/exchange.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Classify, Fixture, Keeper, Kept, Operation, PrepareContext } from './index.js' */

/** @typedef {{name: string, weight: number, operation: Operation, plan: Plan}} Member `plan`: as if it were the only one */
/** @typedef {Fixture & {members?: Fixture[]}} MixFixture of several operations: one each */
/** @typedef {ReturnType<typeof mixOf>} Mix */

/** @param {Plan} plan */
export async function loadMix(plan) {
  const { operation, options, mix } = plan;
  /** @type {Member[]} */
  const members = [];
  for (const entry of mix ?? [{ name: operation, operation, weight: 1, options }]) {
    const own = { ...plan, operation: entry.operation, options: entry.options };
    members.push({ ...entry, operation: await loadOperation(entry.operation), plan: own });
  }
  return mixOf(plan, members);
}

/** @param {Pick<Plan, 'mix' | 'load'>} plan @param {Member[]} members */
export function mixOf(plan, members) {
  const weights = members.map(({ weight }) => weight);
  const memberOf = createChooser(weights, plan.load.seed);
  const fixturesOf = (/** @type {MixFixture} */ fixture) => fixture.members ?? [fixture];

  return {
    members,
    /** @type {(index: number) => number} which of them request `index` is */
    memberOf,
    /** Units by member name. */
    units: Object.fromEntries(members.map(({ name, operation }) => [name, operation.unit])),
    /** Meanings of outcomes; the first member with one defines it. */
    outcomes: Object.assign({}, ...members.toReversed().map(({ operation }) => operation.outcomes)),

    /** @param {PrepareContext} context @returns {Promise<MixFixture>} */
    async prepare(context) {
      if (plan.mix === null) return members[0].operation.prepare(context);
      const once = { ...context, notice: reportOnce(context.notice), warn: reportOnce(context.warn) };
      /** @type {Fixture[]} */
      const fixtures = [];
      for (const [i, { operation, plan: own }] of members.entries()) {
        const owns = (/** @type {number} */ index) => memberOf(index) === i;
        fixtures.push(
          await operation.prepare({ ...once, plan: own, ...(members.length === 1 ? {} : { owns }) }),
        );
      }
      return joinFixtures(members, fixtures);
    },

    /** @param {MixFixture} fixture @returns {{request: (index: number) => Request, memberOf: (index: number) => number}} */
    createRequester(fixture) {
      const fixtures = fixturesOf(fixture);
      const requests = members.map(({ operation, plan: own }, i) =>
        operation.createRequester(own, fixtures[i]),
      );
      if (requests.length === 1) return { request: requests[0], memberOf };
      return { request: (index) => requests[memberOf(index)](index), memberOf };
    },

    /** @param {MixFixture} fixture @returns {{name: string, classify: Classify}[]} in the order of the members */
    createClassifiers(fixture) {
      const fixtures = fixturesOf(fixture);
      return members.map(({ name, operation, plan: own }, i) => {
        return { name, classify: operation.createClassifier(own, fixtures[i]) };
      });
    },

    /** @returns {(Keeper | null)[]} in the order of the members */
    openKeepers: () => members.map(({ operation, plan: own }) => operation.openKeeper?.(own) ?? null),

    /** @param {number} member @param {Kept} kept @returns {string | null} a sentence */
    describeKept(member, kept) {
      const { operation, plan: own } = members[member];
      return operation.describeKept?.(own, kept) ?? null;
    },
  };
}

/** Several members may give the same warning. @param {(text: string) => void} report @returns {(text: string) => void} */
function reportOnce(report) {
  /** @type {Set<string>} */
  const reported = new Set();
  return (text) => {
    if (reported.has(text)) return;
    reported.add(text);
    report(text);
  };
}

/**
 * A connection goes to one server, so all members must.
 * @param {Member[]} members @param {Fixture[]} fixtures @returns {MixFixture}
 */
function joinFixtures(members, fixtures) {
  const [first] = fixtures;
  const other = fixtures.findIndex(({ origin }) => origin !== first.origin);
  if (other > 0) {
    throw targetError(
      'several_targets',
      `${members[0].name} goes to ${first.origin}, but ${members[other].name} to ${fixtures[other].origin}.`,
      'Mix operations of one server, and send the other in a run of its own.',
    );
  }
  const known = fixtures.find(({ target }) => target.product !== null) ?? first;
  return { origin: first.origin, targetUrl: first.targetUrl, target: known.target, members: fixtures };
}
