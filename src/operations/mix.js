/** One operation, or several by weight. The plan's seed and a request's index determine its operation. */
import { targetError } from '../common/errors.js';
import { loadOperation } from './index.js';
import { createChooser } from './request-parts.js';
/** @import { Request } from '../http/exchange.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Classify, Fixture, Keeper, Operation, PrepareContext } from './index.js' */

/** @typedef {{name: string, weight: number, operation: Operation, plan: Plan}} Member `plan`: of this operation */
/** @typedef {Fixture & {members?: Fixture[]}} MixFixture `members`: one per operation of a mix */
/** @typedef {ReturnType<typeof mixOf>} Mix */

/** @param {Plan} plan */
export async function loadMix(plan) {
  const { operation, options, mix } = plan;
  const entries = mix ?? [{ name: operation, operation, weight: 1, options }];
  const members = entries.map(async (entry) => {
    const memberPlan = { ...plan, operation: entry.operation, options: entry.options };
    return { ...entry, operation: await loadOperation(entry.operation), plan: memberPlan };
  });
  return mixOf(plan, await Promise.all(members));
}

/** @param {Pick<Plan, 'mix' | 'load'>} plan @param {Member[]} members */
export function mixOf({ mix, load }, members) {
  const weights = members.map(({ weight }) => weight);
  const memberOf = createChooser(weights, load.seed);
  const fixtureOf = (/** @type {MixFixture} */ fixture, /** @type {number} */ i) =>
    fixture.members?.[i] ?? fixture;

  return {
    members,
    /** @type {(index: number) => number} the member that sends request `index` */
    memberOf,
    /** Units by member name. */
    units: Object.fromEntries(members.map(({ name, operation }) => [name, operation.unit])),
    /** Meanings of outcomes; where members share one, the first defines it. */
    outcomes: Object.assign({}, ...members.toReversed().map(({ operation }) => operation.outcomes)),

    /** @param {PrepareContext} context @returns {Promise<MixFixture>} */
    async prepare(context) {
      const once = { ...context, notice: reportOnce(context.notice), warn: reportOnce(context.warn) };
      if (mix === null) return members[0].operation.prepare(once);
      /** @type {Fixture[]} */
      const fixtures = [];
      for (const [i, { operation, plan }] of members.entries()) {
        const owns =
          members.length === 1 ? undefined : (/** @type {number} */ index) => memberOf(index) === i;
        fixtures.push(await operation.prepare({ ...once, plan, owns }));
      }
      return joinFixtures(members, fixtures);
    },

    /** @param {MixFixture} fixture @returns {(index: number) => Request} */
    createRequester(fixture) {
      const requests = members.map(({ operation, plan }, i) =>
        operation.createRequester(plan, fixtureOf(fixture, i)),
      );
      return requests.length === 1 ? requests[0] : (index) => requests[memberOf(index)](index);
    },

    /** @param {MixFixture} fixture @returns {{name: string, classify: Classify}[]} in the order of the members */
    createClassifiers(fixture) {
      return members.map(({ name, operation, plan }, i) => {
        return { name, classify: operation.createClassifier(plan, fixtureOf(fixture, i)) };
      });
    },

    /** @param {MixFixture} fixture @param {string} token @returns {string[]} names of the members whose requests have it, or whose certificates end with it */
    dependentsOf(fixture, token) {
      const dependents = members.filter(({ operation, plan }, i) => {
        const own = fixtureOf(fixture, i);
        const { headers } = operation.createRequester(plan, own)(0);
        return headers['x-vault-token'] === token || own.hasLeases === true;
      });
      return dependents.map(({ name }) => name);
    },

    /** @returns {(Keeper | null)[]} in the order of the members */
    openKeepFiles: () => members.map(({ operation, plan }) => operation.openKeeper?.(plan) ?? null),
  };
}

/** Several members may give the same warning, or several checks of one. @param {(text: string) => void} report */
export function reportOnce(report) {
  /** @type {Set<string>} */
  const reported = new Set();
  return (/** @type {string} */ text) => {
    if (!reported.has(text)) report(text);
    reported.add(text);
  };
}

/**
 * A connection goes to one server, so all members must use the same one.
 * @param {Member[]} members @param {Fixture[]} fixtures @returns {MixFixture}
 */
function joinFixtures(members, fixtures) {
  const [first] = fixtures;
  const other = fixtures.findIndex(({ origin }) => origin !== first.origin);
  if (other > 0) {
    const sent = `${members[0].name} sends to ${first.origin}`;
    const message = `${sent}, but ${members[other].name} to ${fixtures[other].origin}.`;
    const remedy = 'Mix only operations on one server; use a separate run for the other.';
    throw targetError('several_targets', message, remedy);
  }
  const identified = fixtures.find(({ target }) => target.product !== null) ?? first;
  const isForeign = fixtures.every((fixture) => fixture.isForeign);
  const { origin, targetUrl } = first;
  return { origin, targetUrl, isForeign, target: identified.target, members: fixtures };
}
