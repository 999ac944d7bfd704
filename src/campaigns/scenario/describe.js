/** What a scenario would do (`--dry-run`): set-up, targets, operations, stages, about how many requests of each, and what is left. */

import { formatCount, formatDuration, formatRate } from '../../common/units.js';
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
/** @import { SearchSettings } from '../search/step-plan.js' */
/** @import { ReadScenario, ScenarioSetup } from './read.js' */

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {Readonly<Plan>} plan
 * @property {SearchSettings | null} [asked] null: it is run, not searched
 * @property {readonly string[]} [notJudged] what is required of its stages, where it does without
 */
/** @typedef {{repeat: number, pauseMs: number, out: string[], search?: object | null}} Settings `search`: null: none */

/**
 * @param {Pick<ReadScenario, 'name' | 'description' | 'setup'>} scenario
 * @param {readonly Step[]} steps
 * @param {Settings} settings
 * @returns {Promise<string>} ends with a newline
 */
export async function describeSteps({ name, description, setup }, steps, settings) {
  const sections = [
    [...wrap(name), ...(description === null ? [] : wrap(description.trim()))],
    ...(setup === null ? [] : [describeSetup(setup, steps)]),
    ...(await Promise.all(steps.map((step) => describeStep(step, setup, settings)))),
    describeRest(steps, settings),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {ScenarioSetup} setup @param {readonly Step[]} steps */
function describeSetup(setup, steps) {
  if (steps.every(({ plan }) => plan.dev)) {
    return labelled('Set up', 'nothing: the embedded server has what operations need');
  }
  const { mounts, policy, roles } = planSetup(setup);
  const places = [...new Set(steps.map(({ plan }) => plan.target.url))];
  return [
    ...labelled('Set up', `on ${places.join(', ')}, before anything runs there:`),
    ...mounts.map(({ kind, path, type }) => `  ${kind === 'auth' ? `auth/${path}` : path} (${type})`),
    ...labelled('Roles', `${Object.keys(roles).join(', ')}; policy ${policy}`),
    ...labelled('Removed', setup.keep ? 'no, it stays (keep) until' : 'at the end'),
    // Not wrapped: they are to be pasted.
    ...(setup.keep ? teardownCommands(setup.name, steps).map((command) => `  ${command}`) : []),
  ];
}

/** @param {readonly Step[]} steps @param {Settings} settings */
function describeRest(steps, { repeat, pauseMs, out, search = null }) {
  const pause = pauseMs > 0 ? `, with ${formatDuration(pauseMs)} in between` : '';
  const repeated = repeat === 1 ? 'no' : `${counted(repeat, 'time')}${pause}`;
  const ofEach =
    steps.length === 1
      ? ''
      : search === null
        ? '; of each alone, with its name behind that'
        : ', of each search with its name behind that';
  return [
    ...labelled('Repeated', search === null ? repeated : 'as often as the search needs'),
    ...labelled('Written', out.length === 0 ? 'nothing but the summary' : `${out.join(', ')}${ofEach}`),
    ...labelled('Sent', 'nothing (dry run)'),
  ];
}

/** @param {Step} step @param {ScenarioSetup | null} setup @param {Settings} settings */
async function describeStep({ name, plan, asked = null, notJudged = [] }, setup, settings) {
  const { load, target, dev, mix, requirements } = plan;
  const schedule = asked === null ? scheduleOf(load) : null;
  const planned = schedule === null ? load.requests : schedule.count - schedule.firstMeasured;
  return [
    ...labelled('Run', name),
    ...labelled('Target', dev ? 'an embedded PKI server, started for it' : target.url),
    ...labelled('Mount', target.mount),
    ...(asked === null ? describeLoad(load, planned) : describeSearch(plan, asked)),
    ...operations(mix ?? [], planned),
    ...stages(load, schedule),
    '',
    ...requirements.flatMap(({ text }, i) => labelled(i === 0 ? 'Required' : '', text)),
    ...(notJudged.length === 0 ? [] : labelled('Left out', 'stages, and what is required of them:')),
    ...notJudged.flatMap((text) => labelled('', text)),
    ...(await leftBehind(plan, setup, settings)),
  ];
}

/** @param {Plan['load']} load @param {number | null} planned requests; null: unknown */
function describeLoad(load, planned) {
  return [
    ...labelled('Load', loadPhrase(load)),
    ...labelled('Requests', planned === null ? 'as many as are answered' : formatCount(planned)),
  ];
}

/**
 * @param {Plan} plan
 * @param {SearchSettings} asked
 * @returns {string[]} the goal and the steps; the number of requests is unknown
 */
function describeSearch(plan, asked) {
  const { of, start, highest, recoverMs } = asked;
  const loadAt = (/** @type {number} */ level, /** @type {'coarse' | 'confirmation'} */ phase) =>
    planOfStep(plan, asked, { level, phase, looks: 0, number: 1 }).load;
  // The higher the rate, the sooner there are samples enough: no step is shorter than the highest.
  const [first, shortest] = [loadAt(start, 'coarse'), loadAt(highest, 'coarse')];
  const seconds = (/** @type {Plan['load']} */ { durationMs }) => formatDuration(Number(durationMs));
  const what = of === 'rate' ? 'the highest rate' : 'the peak throughput';
  const isMore = first.concurrency < shortest.concurrency;
  const more = isMore ? `, more as the rate grows, ${shortest.concurrency} at most` : '';
  return [
    ...labelled(
      'Search',
      `${what}: from ${levelText(of, start)} to ${levelText(of, highest)} at most, doubling, then bisection`,
    ),
    ...labelled('First step', loadPhrase(first)),
    ...labelled(
      'Steps',
      `of at least ${seconds(shortest)}, with ${formatDuration(recoverMs)} or more in between; then a confirmation of at least ${seconds(loadAt(highest, 'confirmation'))}`,
    ),
    ...(of === 'rate' ? labelled('Connections', `${first.concurrency}${more}`) : []),
  ];
}

/**
 * @param {Plan} plan
 * @param {ScenarioSetup | null} setup
 * @param {Settings} settings
 * @returns {Promise<string[]>}
 */
async function leftBehind({ dev, target, mix }, setup, { repeat, search = null }) {
  if (dev) return labelled('Left behind', 'nothing: the embedded server ends with the run');
  /** @type {string[]} */
  const left = [];
  for (const { name, operation, options } of mix ?? []) {
    const { leaves } = await loadOperation(operation);
    const what = leaves?.(options) ?? null;
    if (what !== null) left.push(`${name}: ${what}`);
  }
  if (left.length === 0) return labelled('Left behind', 'nothing');
  if (setup !== null && !setup.keep && target.mount === `${setup.name}-int`) {
    left.push(`what is in ${target.mount} goes when the set-up is removed`);
  } else if (search !== null) left.push('that of every step of the search');
  else if (repeat > 1) left.push(`that of each of the ${repeat} repeats`);
  return left.flatMap((text, i) => labelled(i === 0 ? 'Left behind' : '', text));
}

/** @param {NonNullable<Plan['mix']>} mix @param {number | null} planned */
function operations(mix, planned) {
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  const about =
    planned === null
      ? null
      : apportion(
          planned,
          mix.map(({ weight }) => weight / total),
        );
  const rows = mix.map(({ name, operation, weight }, i) => [
    name === operation ? name : `${name} (${operation})`,
    `${Number(((100 * weight) / total).toPrecision(3))} %`,
    about === null ? '–' : formatCount(about[i]),
  ]);
  return ['', ...table([['Operations', 'share', 'about'], ...rows]).flat()];
}

/**
 * @param {number} total
 * @param {readonly number[]} shares that sum to 1
 * @returns {number[]} whole numbers that sum to the total: the largest fractions are rounded up
 */
export function apportion(total, shares) {
  const whole = shares.map((share) => Math.floor(total * share));
  const left = total - whole.reduce((sum, one) => sum + one, 0);
  const first = shares
    .map((share, i) => ({ i, rest: total * share - whole[i] }))
    .sort((a, b) => b.rest - a.rest)
    .slice(0, left);
  for (const { i } of first) whole[i]++;
  return whole;
}

/** @param {Plan['load']} load @param {Schedule | null} schedule */
function stages(load, schedule) {
  if (load.stages === null) return [];
  const level = load.model === 'open' ? formatRate : (/** @type {number} */ value) => `${value} in flight`;
  const rows = stageFacts(load, schedule).map(({ name, startMs, endMs, due }, i) => {
    const lines = /** @type {NonNullable<Plan['load']['stages']>} */ (load.stages)[i].lines;
    const most = lines.reduce((highest, { from, to }) => Math.max(highest, from, to), 0);
    return [
      name,
      formatDuration(startMs),
      formatDuration(endMs - startMs),
      level(lines[0].from),
      level(most),
      level(lines[lines.length - 1].to),
      due === null ? '–' : formatCount(due),
    ];
  });
  return [
    '',
    ...table([['Stages', 'from', 'for', 'begins at', 'at most', 'ends at', 'requests'], ...rows]).flat(),
  ];
}
