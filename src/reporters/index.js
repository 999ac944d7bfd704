/** The reporters: each turns a Result into text for one destination. A new one is a file and a line here. */
import { extname } from 'node:path';
import { usageError } from '../errors.js';

/**
 * @typedef {object} Reporter
 * @property {(result: import('../results/schema.js').Result, options?: {color?: boolean}) => string} render
 */
/** @typedef {{extension: string, load: () => Promise<Reporter>}} ReporterEntry */

/** By the name that `--format` takes; the extension is what `--out` goes by. */
export const reporters = Object.freeze({
  text: { extension: '.txt', load: () => import('./terminal.js') },
  json: { extension: '.json', load: () => import('./json.js') },
});

/**
 * @param {string} path of a report, e.g. given to `--out`
 * @returns {ReporterEntry & {name: string}}
 * @throws {import('../errors.js').PkiLoadError} code `unknown_report_format`, listing the extensions there are
 */
export function reporterForFile(path) {
  const extension = extname(path).toLowerCase();
  const found = Object.entries(reporters).find(([, reporter]) => reporter.extension === extension);
  if (found !== undefined) return { name: found[0], ...found[1] };
  const known = Object.values(reporters).map((reporter) => reporter.extension);
  throw usageError(
    'unknown_report_format',
    `${JSON.stringify(path.slice(0, 200))} has ${extension === '' ? 'no extension' : `the extension ${JSON.stringify(extension)}`}, so what to write is not known.`,
    `Use one of ${known.join(', ')}.`,
  );
}
