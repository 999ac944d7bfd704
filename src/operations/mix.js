/**
 * What a run sends: one operation, or several by weight. Which of them request `index` is follows from the plan's seed and the index
 * alone, so that every thread and every machine agrees.
 */
import { targetError } from '../common/errors.js';
import { loadOperation } from './index.js';
import { createChooser } from './request-parts.js';
/** @import { Request } from '../http/exchange.js' */
/** @import { MixEntry, Plan } from '../plan/plan.js' */
/** @import { Classify, CleanupContext, Fixture, Keeper, Kept, Operation } from './index.js' */
/** @import { PrepareContext } from './index.js' */

/** @typedef {{name: string, weight: number, operation: Operation, plan: Plan}} Member `plan`: as if it were the only one */
/** @typedef {Fixture & {members?: Fixture[]}} MixFixture of several: each one's own */
/** @typedef {ReturnType<typeof mixOf>} Mix */

/** @param {Plan} plan */
export async function loadMix(plan) {
  /** @type {Member[]} */
  const members = [];
  for (const { name, operation, weight, options } of entriesOf(plan)) {
    const own = plan.mix === null ? plan : { ...plan, operation, options };
    members.push({ name, weight, operation: await loadOperation(operation), plan: own });
  }
  return mixOf(plan, members);
}

/** @param {Pick<Plan, 'mix' | 'load'>} plan @param {Member[]} members */
export function mixOf(plan, members) {
  const memberOf =
    members.length === 1
      ? () => 0
      : createChooser(
          members.map(({ weight }) => weight),
          plan.load.seed,
        );
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
      const told = onceEach(context);
      /** @type {Fixture[]} */
      const fixtures = [];
      try {
        for (const [i, { operation, plan: own }] of members.entries()) {
          const owns =
            members.length === 1 ? undefined : (/** @type {number} */ index) => memberOf(index) === i;
          fixtures.push(await operation.prepare({ ...told, plan: own, owns }));
        }
        return together(members, fixtures);
      } catch (error) {
        await cleanupAll(members.slice(0, fixtures.length), context, fixtures);
        throw error;
      }
    },

    /**
     * @param {MixFixture} fixture
     * @returns {{request: (index: number) => Request, memberOf: (index: number) => number}}
     */
    createRequester(fixture) {
      const fixtures = fixturesOf(fixture);
      const requests = members.map(({ operation, plan: own }, i) =>
        operation.createRequester(own, fixtures[i]),
      );
      if (requests.length === 1) return { request: requests[0], memberOf };
      return { request: (index) => requests[memberOf(index)](index), memberOf };
    },

    /**
     * @param {MixFixture} fixture
     * @returns {{name: string, classify: Classify}[]} in the order of the members
     */
    createClassifiers(fixture) {
      const fixtures = fixturesOf(fixture);
      return members.map(({ name, operation, plan: own }, i) => ({
        name,
        classify: operation.createClassifier(own, fixtures[i]),
      }));
    },

    /** @param {MixFixture} fixture @returns {string[][]} of each member: see Operation */
    takeNotes(fixture) {
      const fixtures = fixturesOf(fixture);
      return members.map(({ operation }, i) => operation.takeNotes?.(fixtures[i]) ?? []);
    },

    /** @returns {(Keeper | null)[]} in the order of the members */
    openKeepers: () => members.map(({ operation, plan: own }) => operation.openKeeper?.(own) ?? null),

    /** @param {number} member @param {Kept} kept @returns {string | null} a sentence */
    describeKept(member, kept) {
      const { operation, plan: own } = members[member];
      return operation.describeKept?.(own, kept) ?? null;
    },

    /**
     * Removes what preparing and sending made. Failures become warnings; never throws.
     *
     * @param {CleanupContext} context
     * @param {MixFixture} fixture
     */
    cleanup: (context, fixture) => cleanupAll(members, context, fixturesOf(fixture)),
  };
}

/**
 * Several members may warn alike, such as that the token ends soon: each text is passed on once.
 *
 * @param {PrepareContext} context
 * @returns {PrepareContext}
 */
function onceEach(context) {
  /** @type {Set<string>} */
  const said = new Set();
  const once = (/** @type {(text: string) => void} */ say) => (/** @type {string} */ text) => {
    if (said.has(text)) return;
    said.add(text);
    say(text);
  };
  return { ...context, notice: once(context.notice), warn: once(context.warn) };
}

/** @param {Member[]} members @param {CleanupContext} context @param {Fixture[]} fixtures theirs */
async function cleanupAll(members, context, fixtures) {
  for (const [i, { name, operation, plan }] of members.entries()) {
    try {
      await operation.cleanup?.({ ...context, plan }, fixtures[i]);
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      context.warn(`What ${name} has made could not be removed: ${message}`);
    }
  }
}

/** @param {Plan} plan @returns {readonly Readonly<MixEntry>[]} */
function entriesOf({ operation, options, mix }) {
  return mix ?? [{ name: operation, operation, weight: 1, options }];
}

/**
 * A connection goes to one server, so all members must.
 *
 * @param {Member[]} members
 * @param {Fixture[]} fixtures
 * @returns {MixFixture}
 */
function together(members, fixtures) {
  const [first] = fixtures;
  const other = fixtures.findIndex(({ origin }) => origin !== first.origin);
  if (other > 0) {
    throw targetError(
      'several_targets',
      `${members[0].name} is asked of ${first.origin}, but ${members[other].name} of ${fixtures[other].origin}.`,
      'Mix operations of one server, and ask the other in a run of its own.',
    );
  }
  const known = fixtures.find(({ target }) => target.product !== null) ?? first;
  return { origin: first.origin, targetUrl: first.targetUrl, target: known.target, members: fixtures };
}
