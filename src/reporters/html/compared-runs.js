/** What was compared: the groups, and every run of them, as sections of a page. */
import { targetPhrase } from '../phrases.js';
import {
  commonSubject,
  datesPhrase,
  filesPhrase,
  runsPhrase,
  subjectsPhrase,
  targetsPhrase,
  timeText,
} from '../run-phrases.js';
import { facts, section, table, verdictBadge } from './parts.js';

/** @typedef {import('../../results/comparison/comparison-schema.js').Comparison} Comparison */

/** @param {Comparison} comparison */
export function groupsCompared(comparison) {
  const isSame = commonSubject(comparison) !== null;
  /** @type {[string, string][]} */
  const rows = comparison.groups.map((group, i) => [
    group.name,
    [
      `${runsPhrase(group)}${i === 0 ? ', the base' : ''}`,
      ...(isSame ? [] : [subjectsPhrase(group)]),
      `on ${targetsPhrase(group.runs)}`,
      `started ${datesPhrase(group)}`,
      `from ${filesPhrase(group)}`,
    ].join('; '),
  ]);
  return section('Groups', facts(rows));
}

/** @param {Comparison} comparison */
export function runsCompared({ groups }) {
  const rows = groups.flatMap(({ name, runs: all }) =>
    all.map(({ name: run, startedAt, target, verdict, used, why }) => [
      run,
      name,
      timeText(startedAt),
      targetPhrase(target),
      { html: verdictBadge(verdict) },
      `${used ? 'yes' : 'left out'}${why === null ? '' : `: ${why}`}`,
    ]),
  );
  const columns = ['Run', 'Group', 'Started (UTC)', 'Target', 'Measurement', 'Counts'];
  return section('Runs', table({ caption: 'Every run that was given', columns, rows }));
}
