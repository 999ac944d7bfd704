/** Document -> Report, by its kind. */
import { kindOf } from '../../result/document.js';

/** @type {Record<import('../../result/document.js').DocumentKind, () => Promise<(document: any) => import('../sections.js').Report>>} */
const DESCRIBERS = {
  result: async () => (await import('./result.js')).describeResult,
  'run-set': async () => (await import('./run-set.js')).describeRunSet,
  comparison: async () => (await import('./comparison.js')).describeComparison,
  search: async () => (await import('./search.js')).describeSearch,
  propagation: async () => (await import('./propagation.js')).describePropagation,
  'scenario-result': async () => (await import('./scenario.js')).describeScenario,
};

/** @param {import('../../result/document.js').Document} document */
export async function describe(document) {
  const describer = await DESCRIBERS[kindOf(document)]();
  return describer(document);
}
