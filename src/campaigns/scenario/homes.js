/** Where a key belongs that stands somewhere else in a scenario. */
import { loadOptions, targetOptions } from './declaration.js';
import { SHAPES } from './stages.js';

/** By key; the first that has it. @type {readonly [home: string, keys: readonly string[]][]} */
const HOMES = Object.freeze([
  ['target', [...Object.keys(targetOptions), 'token-env']],
  ['load', ['model', ...Object.keys(loadOptions)]],
  ['stages', Object.keys(SHAPES)],
  ['mix', ['operation', 'weight']],
]);

const AT_THE_TOP = Object.freeze(['setup', 'target', 'targets', 'runs', 'repeat', 'pause', 'out', 'env']);

/** @type {Readonly<Record<string, string>>} */
const ELSEWHERE = Object.freeze({
  token: 'A token is a secret and not for files: token-env names the environment variable that holds it.',
  dev: 'The embedded server is asked for on the command line, --dev.',
  shard: 'It is given on the command line, --shard: another part on each machine.',
  'start-at': 'It is given on the command line, --start-at.',
  operations: 'What is sent stands in mix.',
  address: 'It is called url.',
  vault: 'It is called url.',
  '<<': 'Merge keys (<<) are of YAML 1.1: repeat what they stand for, or use an alias for the whole.',
});

/**
 * @param {string} key
 * @returns {string | null} a sentence
 */
export function homeOf(key) {
  if (Object.hasOwn(ELSEWHERE, key)) return ELSEWHERE[key];
  const home = HOMES.find(([, keys]) => keys.includes(key));
  if (home !== undefined) return `It belongs into ${home[0]}.`;
  return AT_THE_TOP.includes(key) ? 'It belongs to the top of the file.' : null;
}
