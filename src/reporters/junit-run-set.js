/** A set of runs as JUnit XML: each run is a suite with the cases that it would have alone. */
import { suitesOfRun } from './junit.js';
import { junitXml } from './junit-xml.js';

/**
 * @param {import('../results/runs/run-set.js').RunSet} runSet
 * @returns {string} ends with a newline
 */
export function render({ runs }) {
  return junitXml(runs.flatMap((result, i) => suitesOfRun(result, `run ${i + 1}`)));
}
