/** What a scenario would do (`--dry-run`): targets, operations, stages, and about how many requests of each. */
import { scheduleOf } from '../load/due.js';
import { stageFacts } from '../load/stages.js';
import { labelled, table, wrap } from '../reporters/layout.js';
import { counted, loadPhrase } from '../reporters/phrases.js';
import { formatCount, formatDuration, formatRate } from '../units.js';

/** @typedef {import('../plan.js').Plan} Plan */
/** @typedef {{name: string, plan: Readonly<Plan>}} Step */

/**
 * @param {import('./read.js').ReadScenario} scenario
 * @param {readonly Step[]} steps
 * @param {{repeat: number, pauseMs: number, out: string[]}} settings
 * @returns {string} ends with a newline
 */
export function describeSteps({ name, description }, steps, { repeat, pauseMs, out }) {
  const pause = pauseMs > 0 ? `, with ${formatDuration(pauseMs)} in between` : '';
  const sections = [
    [...wrap(name), ...(description === null ? [] : wrap(description))],
    ...steps.map(describeStep),
    [
      ...labelled('Repeated', repeat === 1 ? 'no' : `${counted(repeat, 'time')}${pause}`),
      ...labelled('Written', out.length === 0 ? 'nothing but the summary' : out.join(', ')),
      ...labelled('Sent', 'nothing: this is what would be'),
    ],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {Step} step */
function describeStep({ name, plan }) {
  const { load, target, dev, mix, requirements } = plan;
  const schedule = scheduleOf(load);
  const planned = schedule === null ? load.requests : schedule.count - schedule.firstMeasured;
  return [
    ...labelled('Run', name),
    ...labelled('Target', dev ? 'an embedded PKI server, started for it' : target.url),
    ...labelled('Load', loadPhrase(load)),
    ...labelled('Requests', planned === null ? 'as many as are answered' : formatCount(planned)),
    ...operations(mix ?? [], planned),
    ...stages(load, schedule),
    ...requirements.flatMap(({ text }, i) => labelled(i === 0 ? 'Required' : '', text)),
  ];
}

/**
 * @param {NonNullable<Plan['mix']>} mix
 * @param {number | null} planned
 */
function operations(mix, planned) {
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  const rows = mix.map(({ name, operation, weight }) => [
    name === operation ? name : `${name} (${operation})`,
    `${Number(((100 * weight) / total).toPrecision(3))} %`,
    planned === null ? '–' : formatCount(Math.round((planned * weight) / total)),
  ]);
  return table([['Operations', 'share', 'about'], ...rows]);
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
    return [
      name,
      formatDuration(startMs),
      formatDuration(endMs - startMs),
      level(lines[0].from),
      level(lines[lines.length - 1].to),
      due === null ? '–' : formatCount(due),
    ];
  });
  return table([['Stages', 'from', 'for', 'begins at', 'ends at', 'requests'], ...rows]);
}
