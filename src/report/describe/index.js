/** Document -> Report, by its kind. */
import { kindOf } from '../../results/document.js';

/** @typedef {import('../../results/document.js').Document} Document */
/** @typedef {import('../../results/document.js').DocumentKind} DocumentKind */
/** @typedef {import('../sections.js').Report} Report */

/** @type {Partial<Record<DocumentKind, () => Promise<(document: any) => Report>>>} */
const DESCRIBERS = {
  result: async () => (await import('./result.js')).describeResult,
};

/**
 * @param {Document} document
 * @returns {Promise<Report>}
 */
export async function describe(document) {
  const kind = kindOf(document);
  const load = DESCRIBERS[kind];
  if (load === undefined) throw new Error(`no description of ${kind}`);
  return (await load())(document);
}
