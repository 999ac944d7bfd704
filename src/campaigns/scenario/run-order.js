/** In which order the runs of a scenario are made. */

/** @typedef {{step: number, number: number}} Turn index of a step, and which of its repeats, from 0 */

/**
 * Targets take turns, and another one begins each time: with A1 B1 B2 A2 what a machine does meanwhile (it warms up, a disk fills)
 * falls on all alike.
 *
 * @param {readonly {run: string}[]} steps all targets of the first run, then all of the next
 * @param {number} repeat of it all
 * @returns {Turn[]}
 */
export function turnsOf(steps, repeat) {
  const runs = [...new Set(steps.map(({ run }) => run))].map((run) =>
    steps.flatMap((step, i) => (step.run === run ? [i] : [])),
  );
  return Array.from({ length: repeat }, (_, number) =>
    runs.flatMap((targets) =>
      targets.map((_step, i) => ({ step: targets[(i + number) % targets.length], number })),
    ),
  ).flat();
}
