/** A dry run of a scenario: set-up, targets, operations, stages, about how many requests of each, and the objects left on the target. */

import { formatCount, formatDuration } from '../../common/units.js';
import { loadOperation } from '../../operations/index.js';
import { scheduleOf } from '../../plan/due.js';
import { stageFacts } from '../../plan/stages.js';
import { counted, loadPhrase } from '../../report/describe/words.js';
import { labelled, table, wrap } from '../../report/layout.js';
import { levelText } from '../../result/search/explain.js';
import { teardownCommands } from '../../vault/setup/command.js';
import { planSetup } from '../../vault/setup/setup-plan.js';
import { planOfStep } from '../search/step-plan.js';
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { SearchSettings } from '../search/search-options.js' */
/** @import { ReadScenario, ScenarioSetup } from './read.js' */
/** @import { Step as PlannedStep } from './scenario-steps.js' */

/** @typedef {Pick<PlannedStep, 'name' | 'plan'> & Partial<Pick<PlannedStep, 'asked' | 'notJudged'>>} Step */
/** @typedef {{repeat: number, pauseMs: number, out: string[], search?: object | null}} Settings `search`: null: none */

/**
 * @param {Pick<ReadScenario, 'name' | 'description' | 'setup' | 'reads'>} scenario
 * @param {readonly Step[]} steps @param {Settings} settings
 * @returns {Promise<string>} ends with a newline
 */
export async function describeSteps({ name, description, setup, reads }, steps, settings) {
  const sections = [
    [...wrap(name), ...(description === null ? [] : wrap(description.trim()))],
    facts({ Reads: describeReads(reads) }),
    setup === null ? [] : describeSetup(setup, steps),
    ...(await Promise.all(steps.map((step) => describeStep(step, setup, settings)))),
    describeRest(steps, settings),
  ];
  const filled = sections.filter(({ length }) => length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {Record<string, string | readonly string[]>} texts by label @returns {string[]} lines; none for a label without texts */
function facts(texts) {
  return Object.entries(texts).flatMap(([label, own]) =>
    [own].flat().flatMap((text, i) => labelled(i === 0 ? label : '', text)),
  );
}

/** @param {ReadScenario['reads']} reads @returns {string[]} each environment variable, with the places that its value goes to */
export function describeReads(reads) {
  return [...reads].map(([name, places]) => {
    const shown = places.map((place) => (place === 'token-env' ? 'the token' : place));
    return `${name}: ${shown.slice(0, 5).join(', ')}${shown.length > 5 ? `, and ${shown.length - 5} more` : ''}`;
  });
}

/** @param {ScenarioSetup} setup @param {readonly Step[]} steps */
function describeSetup(setup, steps) {
  if (steps.every(({ plan }) => plan.dev)) {
    return facts({ 'Set up': 'nothing: the embedded server has all that the operations need' });
  }
  const { mounts, policy, roles } = planSetup(setup);
  const urls = [...new Set(steps.map(({ plan }) => plan.target.url))];
  return [
    ...facts({ 'Set up': `on ${urls.join(', ')}, before anything runs there:` }),
    ...mounts.map(({ kind, path, type }) => `  ${kind === 'auth' ? `auth/${path}` : path} (${type})`),
    ...facts({
      Roles: `${Object.keys(roles).join(', ')}; policy ${policy}`,
      Removed: setup.keep ? 'not by the scenario (keep); to remove it:' : 'at the end',
    }),
    // Not wrapped, to be pasted.
    ...(setup.keep ? teardownCommands(setup.name, steps).map((command) => `  ${command}`) : []),
  ];
}

/** @param {readonly Step[]} steps @param {Settings} settings */
function describeRest(steps, { repeat, pauseMs, out, search = null }) {
  const pause = pauseMs > 0 ? `, with ${formatDuration(pauseMs)} in between` : '';
  const repeated = repeat === 1 ? 'no' : `${counted(repeat, 'time')}${pause}`;
  const each = search === null ? 'one file more for each' : 'one file for each search';
  const files = `${out.join(', ')}${steps.length === 1 ? '' : `; ${each}, with its name`}`;
  return facts({
    Repeated: search === null ? repeated : 'as often as the search needs',
    Written: out.length === 0 ? 'nothing but the summary' : files,
    Sent: 'nothing (dry run)',
  });
}

/** @param {Step} step @param {ScenarioSetup | null} setup @param {Settings} settings */
async function describeStep({ name, plan, asked = null, notJudged = [] }, setup, settings) {
  const { load, target, dev, mix, requirements } = plan;
  const schedule = asked === null ? scheduleOf(load) : null;
  const planned = schedule === null ? load.requests : schedule.count - schedule.firstMeasured;
  const count = planned === null ? 'as many as the target answers' : formatCount(planned);
  return [
    ...facts({
      Run: name,
      Target: dev ? 'an embedded PKI server, started for it' : target.url,
      Mount: target.mount,
      ...(asked === null ? { Load: loadPhrase(load), Requests: count } : describeSearch(plan, asked)),
    }),
    ...operations(mix ?? [], planned),
    ...stages(load, schedule),
    '',
    ...facts({
      Required: requirements.map(({ text }) => text),
      'Left out': notJudged.length === 0 ? [] : ['stages, and the requirements on them:', ...notJudged],
      'Left behind': await leftBehind(plan, setup, settings),
    }),
  ];
}

/** The goal and the steps; the number of requests is unknown. @param {Plan} plan @param {SearchSettings} asked */
function describeSearch(plan, asked) {
  const { of, start, highest, recoverMs } = asked;
  const loadAt = (/** @type {number} */ level, /** @type {'coarse' | 'confirmation'} */ phase) =>
    planOfStep(plan, asked, { level, phase, number: 1 }, []).load;
  // The higher the rate, the sooner there are enough samples: no step is shorter than the highest.
  const [first, shortest] = [loadAt(start, 'coarse'), loadAt(highest, 'coarse')];
  const time = (/** @type {Plan['load']} */ { durationMs }) => formatDuration(Number(durationMs));
  const goal = of === 'rate' ? 'the highest rate' : 'the peak throughput';
  const range = `from ${levelText(of, start)} to ${levelText(of, highest)} at most`;
  const lengths = `of at least ${time(shortest)}, with ${formatDuration(recoverMs)} or more in between`;
  const more = `, more as the rate grows, ${shortest.concurrency} at most`;
  const connections = `${first.concurrency}${first.concurrency < shortest.concurrency ? more : ''}`;
  return {
    Search: `${goal}: ${range}, doubling, then bisection`,
    'First step': loadPhrase(first),
    Steps: `${lengths}; then a confirmation of at least ${time(loadAt(highest, 'confirmation'))}`,
    ...(of === 'rate' && { Connections: connections }),
  };
}

/** @param {Plan} plan @param {ScenarioSetup | null} setup @param {Settings} settings @returns {Promise<string[]>} */
async function leftBehind({ dev, target, mix }, setup, { repeat, search = null }) {
  if (dev) return ['nothing: the embedded server ends with the run'];
  /** @type {string[]} */
  const left = [];
  for (const { name, operation, options } of mix ?? []) {
    const objects = (await loadOperation(operation)).leaves?.(options) ?? null;
    if (objects !== null) left.push(`${name}: ${objects}`);
  }
  if (left.length === 0) return ['nothing'];
  if (setup !== null && !setup.keep && target.mount === `${setup.name}-int`) {
    left.push(`the removal of the set-up removes all that is in ${target.mount}`);
  } else if (search !== null) left.push('as much after every step of the search');
  else if (repeat > 1) left.push(`as much after each of the ${repeat} repeats`);
  return left;
}

/** @param {NonNullable<Plan['mix']>} mix @param {number | null} planned */
function operations(mix, planned) {
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  const rows = mix.map(({ name, operation, weight }) => [
    name === operation ? name : `${name} (${operation})`,
    `${Number(((100 * weight) / total).toPrecision(3))} %`,
    planned === null ? '–' : formatCount(Math.round((planned * weight) / total)),
  ]);
  return ['', ...table([['Operations', 'share', 'about'], ...rows]).flat()];
}

/** @param {Plan['load']} load @param {Schedule | null} schedule */
function stages(load, schedule) {
  if (load.stages === null) return [];
  const level = (/** @type {number} */ value) =>
    levelText(load.model === 'open' ? 'rate' : 'concurrency', value);
  const facts = stageFacts(load, schedule);
  const rows = load.stages.map(({ name, lines }, i) => {
    const { startMs, endMs, due } = facts[i];
    const levels = lines.flatMap(({ from, to }) => [from, to]);
    const shown = [levels[0], Math.max(...levels), levels[levels.length - 1]].map(level);
    const requests = due === null ? '–' : formatCount(due);
    return [name, formatDuration(startMs), formatDuration(endMs - startMs), ...shown, requests];
  });
  const heads = ['Stages', 'from', 'for', 'begins at', 'at most', 'ends at', 'requests'];
  return ['', ...table([heads, ...rows]).flat()];
}
