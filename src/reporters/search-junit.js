/**
 * A search as JUnit XML: each requirement is a case, which passes where a level was confirmed at which it is met; unless it ended because
 * the tool could offer no more, which is an error: what was looked for is not known. So is what the answer did not prove.
 */
import { junitXml } from './junit-xml.js';
import { answerPhrase, requirementVerdict, searchSubject, searchTitle } from './search-phrases.js';

/** @typedef {import('../results/search/search-schema.js').Search} Search */

/** Then what was looked for is not known. @type {Search['why'][]} */
const UNKNOWN = ['generator', 'interrupted', 'broken off', 'going on'];

/**
 * @param {Search} search
 * @returns {string} ends with a newline
 */
export function render(search) {
  const { answer, requirements, explanation, startedAt, durationSeconds, command, searched, why } = search;
  const isTool = UNKNOWN.includes(why);
  const names = requirements.map(({ text }) => text);
  /** @param {number} i @returns {import('./junit-xml.js').Problem | null} */
  const problemOf = (i) => {
    if (answer === null || isTool)
      return { kind: isTool ? 'error' : 'failure', type: why, message: explanation };
    const verdict = requirements.length === 0 ? 'met' : requirementVerdict(search, i);
    if (verdict === 'met') return null;
    return { kind: verdict === 'not met' ? 'failure' : 'error', type: verdict, message: explanation };
  };
  const output = `${searchTitle(search)}: ${answerPhrase(search)}`;
  return junitXml([
    {
      name: searchSubject(search),
      classname: `vault-pki-load.search.${searched}`,
      seconds: durationSeconds,
      startedAt,
      properties: [
        ['command', command],
        ['answer', answerPhrase(search)],
      ],
      cases: (names.length === 0 ? [searchTitle(search)] : names).map((name, i) => ({
        name,
        problem: problemOf(i),
        output,
      })),
      output: `${output}\n${explanation}`,
    },
  ]);
}
