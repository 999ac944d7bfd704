/** A dry run of a scenario: setup, targets, operations, stages, request counts, and the objects left on the target. */
import { isDeepStrictEqual } from 'node:util';
import { camelCase, originOf, readOptions } from '../../common/options.js';
import { maxOf, total } from '../../common/sums.js';
import { formatCount, formatDuration } from '../../common/units.js';
import { routeOf } from '../../http/route.js';
import { loadOperation } from '../../operations/index.js';
import { scheduleOf } from '../../plan/due.js';
import { partName } from '../../plan/shard-part.js';
import { stageFacts } from '../../plan/stages.js';
import { counted, loadPhrase } from '../../report/describe/words.js';
import { labelled, table, wrap } from '../../report/layout.js';
import { levelText } from '../../result/search/explain.js';
import { readNetwork } from '../../vault/network.js';
import { quoted, targetFlags, teardownCommands } from '../../vault/setup/command.js';
import { planSetup } from '../../vault/setup/setup-plan.js';
import { planOfStep } from '../search/step-plan.js';
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { SearchSettings } from '../search/search-options.js' */
/** @import { ReadScenario, ScenarioSetup } from './read.js' */
/** @import { Step as PlannedStep } from './scenario-steps.js' */

/** @typedef {Pick<PlannedStep, 'name' | 'plan'> & Partial<Pick<PlannedStep, 'searchSettings' | 'notJudged'>>} Step */
/** @typedef {{repeat: number, pauseMs: number, out: string[], search?: object | null}} Settings */

/**
 * @param {Pick<ReadScenario, 'name' | 'description' | 'setup' | 'reads'>} scenario
 * @param {readonly Step[]} steps @param {Settings} settings @returns {Promise<string>} ends with a newline
 */
export async function describeSteps({ name, description, setup, reads }, steps, settings) {
  const sections = [
    [...wrap(name), ...(description === null ? [] : wrap(description.trim()))],
    facts({ Uses: describeReads(reads) }),
    setup === null ? [] : describeSetup(setup, steps),
    ...(await Promise.all(steps.map((step) => describeStep(step, setup, settings)))),
    describeRest(steps, settings),
  ];
  return sections.flatMap((lines) => (lines.length === 0 ? [] : `${lines.join('\n')}\n`)).join('\n');
}

/** @param {Record<string, string | readonly string[]>} texts by label @returns {string[]} lines; none for a label without texts */
function facts(texts) {
  return Object.entries(texts).flatMap(([label, lines]) =>
    [lines].flat().flatMap((text, i) => labelled(i === 0 ? label : '', text)),
  );
}

/** @param {ReadScenario['reads']} reads @returns {string[]} each environment variable and file, with the places that use it */
export function describeReads(reads) {
  return [...reads].map(([name, places]) => {
    const more = places.length > 5 ? `, and ${places.length - 5} more` : '';
    return `${name}: ${places.slice(0, 5).join(', ')}${more}`;
  });
}

/** @param {ScenarioSetup} setup @param {readonly Step[]} steps */
function describeSetup(setup, steps) {
  if (steps.every(({ plan }) => plan.dev))
    return facts({ 'Set up': 'nothing: the embedded server has everything' });
  const { mounts, policy, roles } = planSetup(setup);
  const urls = [...new Set(steps.map(({ plan }) => plan.target.url))];
  return [
    ...facts({ 'Set up': `on ${urls.join(', ')}, before any run:` }),
    ...mounts.map(({ path, type }) => `  ${path} (${type})`),
    ...facts({
      Roles: `${Object.keys(roles).join(', ')}; policy ${policy}`,
      Removed: setup.keep ? 'never (keep); to remove it:' : 'at the end, unless it existed before',
    }),
    // Not wrapped, for copying.
    ...(setup.keep ? teardownCommands(setup.name, steps).map((command) => `  ${command}`) : []),
  ];
}

/** @param {readonly Step[]} steps @param {Settings} settings */
function describeRest(steps, { repeat, pauseMs, out, search = null }) {
  const pause = pauseMs > 0 ? `, with ${formatDuration(pauseMs)} in between` : '';
  const repeated = repeat === 1 ? 'no' : `${counted(repeat, 'time')}${pause}`;
  const each = search === null ? '; and one file per run and target' : '; one file per search';
  const files = `${out.join(', ')}${steps.length === 1 ? '' : each}`;
  return facts({
    Repeated: search === null ? repeated : 'as often as the search needs',
    Written: out.length === 0 ? 'no files; the summary is printed' : files,
    Sent: 'nothing (dry run)',
  });
}

/** @param {Step} step @param {ScenarioSetup | null} setup @param {Settings} settings */
async function describeStep({ name, plan, searchSettings = null, notJudged = [] }, setup, settings) {
  const { load, target, dev, mix, requirements } = plan;
  const place = [target.url, targetFlags({ ...target, url: '' }).trim()];
  const { proxy } = routeOf(originOf(target.url), readNetwork(target));
  const schedule = searchSettings === null ? scheduleOf(load) : null;
  const planned = schedule === null ? load.requests : schedule.count - schedule.firstMeasured;
  const before = schedule === null ? '' : ` with ${formatCount(schedule.firstMeasured)} more`;
  const warmUp = load.warmupMs > 0 && `after a warm-up of ${formatDuration(load.warmupMs)}${before}`;
  const count = planned === null ? 'as many as the target can handle' : formatCount(planned);
  const ofAll = load.shard === null ? null : `of which ${partName(load.shard)} sends its share`;
  const text = [count, warmUp, ofAll].filter(Boolean).join(', ');
  return [
    ...facts({
      Run: name,
      Target: dev ? 'an embedded PKI server' : place.filter(Boolean),
      Proxy: proxy === null || dev ? [] : `${proxy.name} (${proxy.source})`,
      Mount: target.mount,
      ...(searchSettings ? describeSearch(plan, searchSettings) : { Load: loadPhrase(load), Requests: text }),
    }),
    ...operations(mix ?? [], planned),
    ...stages(load, schedule),
    '',
    ...facts({
      Options: await describeOptions(mix ?? []),
      Required: requirements.map(({ text }) => text),
      'Left out': notJudged.length === 0 ? [] : ['stages, and the requirements on them:', ...notJudged],
      'Left behind': await leftBehind(plan, setup, settings),
    }),
  ];
}

/** The number of requests is unknown. @param {Plan} plan @param {SearchSettings} searchSettings */
function describeSearch(plan, searchSettings) {
  const { of, start, highest, recoverMs } = searchSettings;
  const loadAt = (/** @type {number} */ level, /** @type {'coarse' | 'confirmation'} */ phase) =>
    planOfStep(plan, searchSettings, { level, phase, number: 1 }, []).load;
  const lengthAt = (/** @type {Parameters<typeof loadAt>} */ ...step) =>
    formatDuration(Number(loadAt(...step).durationMs));
  const aim = of === 'rate' ? 'the highest rate' : 'the peak throughput';
  // The higher the rate, the sooner there are enough samples: steps are shortest at the highest rate.
  const lengths = `at least ${lengthAt(highest, 'coarse')}, with ${formatDuration(recoverMs)} or more in between`;
  return {
    Search: `${aim}: ${levelText(of, start)} to ${levelText(of, highest)}, doubling, then bisection`,
    'First step': loadPhrase(loadAt(start, 'coarse')),
    Steps: `${lengths}; then a confirmation of at least ${lengthAt(highest, 'confirmation')}`,
  };
}

/** @param {Plan} plan @param {ScenarioSetup | null} setup @param {Settings} settings @returns {Promise<string[]>} */
async function leftBehind({ dev, target, mix }, setup, { repeat, search = null }) {
  if (dev) return ['nothing: the embedded server ends with the run'];
  const left = [];
  for (const { name, operation, options } of mix ?? []) {
    const objects = (await loadOperation(operation)).leaves?.(options) ?? null;
    if (objects !== null) left.push(`${name}: ${objects}`);
  }
  if (left.length === 0) return ['nothing'];
  if (setup !== null && !setup.keep && target.mount === `${setup.name}-int`) {
    left.push(`these only until the setup is removed, with everything in ${target.mount}`);
  } else if (search !== null) left.push('the same after every step of the search');
  else if (repeat > 1) left.push(`the same after each of the ${repeat} repeats`);
  return left;
}

/** @param {NonNullable<Plan['mix']>} mix @param {number | null} planned */
function operations(mix, planned) {
  const weights = total(mix.map(({ weight }) => weight));
  const rows = mix.map(({ name, operation, weight }) => [
    name === operation ? name : `${name} (${operation})`,
    `${Number(((100 * weight) / weights).toPrecision(3))} %`,
    planned === null ? '–' : formatCount(Math.round((planned * weight) / weights)),
  ]);
  return ['', ...table([['Operations', 'share', 'requests (about)'], ...rows]).flat()];
}

/** The options of each operation that differ from their defaults. @param {NonNullable<Plan['mix']>} mix */
async function describeOptions(mix) {
  const described = mix.map(async ({ name, operation, options }) => {
    const specs = (await loadOperation(operation)).options;
    const defaults = readOptions(specs, {});
    const set = Object.entries(specs).flatMap(([flag, { type }]) => {
      const { [camelCase(flag)]: value } = options;
      if (isDeepStrictEqual(value, defaults[camelCase(flag)])) return [];
      const show = (/** @type {any} */ one) => (type === 'duration' ? formatDuration(one) : quoted(`${one}`));
      return type === 'flag' ? flag : `${flag} ${[value].flat().map(show).join(' ')}`;
    });
    return set.length === 0 ? [] : `${name}: ${set.join(', ')}`;
  });
  return (await Promise.all(described)).flat();
}

/** @param {Plan['load']} load @param {Schedule | null} schedule */
function stages(load, schedule) {
  if (load.stages === null) return [];
  const unit = load.model === 'open' ? 'rate' : 'concurrency';
  const timesOf = stageFacts(load, schedule);
  const rows = load.stages.map(({ name, lines }, i) => {
    const { startMs, endMs, due } = timesOf[i];
    const levels = lines.flatMap(({ from, to }) => [from, to]);
    const shown = [levels[0], maxOf(levels), levels[levels.length - 1]];
    const times = [startMs, endMs - startMs].map(formatDuration);
    const requests = due === null ? '–' : formatCount(due);
    return [name, ...times, ...shown.map((level) => levelText(unit, level)), requests];
  });
  const heads = ['Stages', 'start', 'length', 'from', 'max', 'to', 'requests'];
  return ['', ...table([heads, ...rows]).flat()];
}
