/** One HTML file that fetches nothing: a result, a run set or a comparison for people who decide. */
import { kindOf } from '../results/document.js';
import { render as renderComparison } from './html/comparison.js';
import { render as renderPropagation } from './html/propagation.js';
import { render as renderResult } from './html/result-page.js';
import { render as renderRunSet } from './html/run-set.js';
import { render as renderScenario } from './html/scenario.js';
import { render as renderSearch } from './html/search.js';

/** @type {Record<string, (document: any) => string>} */
const PAGES = {
  result: renderResult,
  'run-set': renderRunSet,
  comparison: renderComparison,
  search: renderSearch,
  propagation: renderPropagation,
  'scenario-result': renderScenario,
};

/**
 * @param {any} document a Result, a RunSet or a Comparison
 * @returns {string} ends with a newline
 */
export function render(document) {
  return PAGES[kindOf(document)](document);
}
