/** Document -> Report, by its kind. */
import { kindOf } from '../../result/document.js';

/** @import { Document, DocumentKind } from '../../result/document.js' */
/** @import { Report } from '../sections.js' */

/** @type {Record<DocumentKind, () => Promise<(document: any) => Report>>} */
const DESCRIBERS = {
  result: async () => (await import('./result.js')).describeResult,
  'run-set': async () => (await import('./run-set.js')).describeRunSet,
  comparison: async () => (await import('./comparison.js')).describeComparison,
  search: async () => (await import('./search.js')).describeSearch,
  propagation: async () => (await import('./propagation.js')).describePropagation,
  'scenario-result': async () => (await import('./scenario.js')).describeScenario,
};

/** @param {Document} document @returns {Promise<Report>} */
export async function describe(document) {
  const describer = await DESCRIBERS[kindOf(document)]();
  return describer(document);
}
