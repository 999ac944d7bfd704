/** What a scenario would do (`--dry-run`): set-up, targets, operations, stages, about how many requests of each, and what is left. */
import { scheduleOf } from '../load/due.js';
import { stageFacts } from '../load/stages.js';
import { loadOperation } from '../operations/index.js';
import { labelled, table, wrap } from '../reporters/layout.js';
import { counted, loadPhrase } from '../reporters/phrases.js';
import { planSetup } from '../setup/plan.js';
import { formatCount, formatDuration, formatRate } from '../units.js';

/** @typedef {import('../plan.js').Plan} Plan */
/** @typedef {import('./read.js').ScenarioSetup} ScenarioSetup */
/** @typedef {{name: string, plan: Readonly<Plan>}} Step */

/**
 * @param {Pick<import('./read.js').ReadScenario, 'name' | 'description' | 'setup'>} scenario
 * @param {readonly Step[]} steps
 * @param {{repeat: number, pauseMs: number, out: string[]}} settings
 * @returns {Promise<string>} ends with a newline
 */
export async function describeSteps({ name, description, setup }, steps, settings) {
  const sections = [
    [...wrap(name), ...(description === null ? [] : wrap(description.trim()))],
    ...(setup === null ? [] : [describeSetup(setup, steps)]),
    ...(await Promise.all(steps.map((step) => describeStep(step, setup, settings.repeat)))),
    describeRest(steps, settings),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/**
 * @param {ScenarioSetup} setup
 * @param {readonly Step[]} steps
 */
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
    ...labelled(
      'Taken away',
      setup.keep ? `no, it stays (keep); teardown --name ${setup.name} does it` : 'when all is over',
    ),
  ];
}

/**
 * @param {readonly Step[]} steps
 * @param {{repeat: number, pauseMs: number, out: string[]}} settings
 */
function describeRest(steps, { repeat, pauseMs, out }) {
  const pause = pauseMs > 0 ? `, with ${formatDuration(pauseMs)} in between` : '';
  const ofEach = steps.length > 1 && out.length > 0 ? '; of each alone, with its name behind that' : '';
  return [
    ...labelled('Repeated', repeat === 1 ? 'no' : `${counted(repeat, 'time')}${pause}`),
    ...labelled('Written', out.length === 0 ? 'nothing but the summary' : `${out.join(', ')}${ofEach}`),
    ...labelled('Sent', 'nothing: this is what would be'),
  ];
}

/**
 * @param {Step} step
 * @param {ScenarioSetup | null} setup
 * @param {number} repeat
 */
async function describeStep({ name, plan }, setup, repeat) {
  const { load, target, dev, mix, requirements } = plan;
  const schedule = scheduleOf(load);
  const planned = schedule === null ? load.requests : schedule.count - schedule.firstMeasured;
  return [
    ...labelled('Run', name),
    ...labelled('Target', dev ? 'an embedded PKI server, started for it' : target.url),
    ...labelled('Mount', target.mount),
    ...labelled('Load', loadPhrase(load)),
    ...labelled('Requests', planned === null ? 'as many as are answered' : formatCount(planned)),
    ...operations(mix ?? [], planned),
    ...stages(load, schedule),
    '',
    ...requirements.flatMap(({ text }, i) => labelled(i === 0 ? 'Required' : '', text)),
    ...(await leftBehind(plan, setup, repeat)),
  ];
}

/**
 * @param {Plan} plan
 * @param {ScenarioSetup | null} setup
 * @param {number} repeat
 * @returns {Promise<string[]>}
 */
async function leftBehind({ dev, target, mix }, setup, repeat) {
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
    left.push(`what is in ${target.mount} goes when the set-up is taken away`);
  } else if (repeat > 1) left.push(`that of each of the ${repeat} repeats`);
  return left.flatMap((text, i) => labelled(i === 0 ? 'Left behind' : '', text));
}

/**
 * @param {NonNullable<Plan['mix']>} mix
 * @param {number | null} planned
 */
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
  return ['', ...table([['Operations', 'share', 'about'], ...rows])];
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

/**
 * @param {Plan['load']} load
 * @param {import('../load/pacing/schedule.js').Schedule | null} schedule
 */
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
  return ['', ...table([['Stages', 'from', 'for', 'begins at', 'at most', 'ends at', 'requests'], ...rows])];
}
