/**
 * Revocations as CSV, a row for each certificate and node; times in milliseconds, a field is empty where nothing was measured. Bounds
 * are from when the revocation was sent; less `revoke_ms`, they are from when it was answered.
 */
import { csv, rounded } from './csv-fields.js';

/** @typedef {import('../results/propagation/propagation-schema.js').Propagation} Propagation */
/** @typedef {import('./csv-fields.js').Field} Field */

/**
 * @param {Propagation} found
 * @returns {string} ends with a line break
 */
export function render({ rows, nodes }) {
  return csv([
    [
      'certificate',
      'outcome',
      'failure',
      'revoke_ms',
      'node',
      'node_outcome',
      'before',
      'lower_ms',
      'upper_ms',
    ],
    ...rows.flatMap(({ certificate, outcome, failure, revokeMs, nodes: own }) => {
      /** @type {Field[]} */
      const head = [certificate, outcome, failure, rounded(revokeMs)];
      if (own.length === 0) return [[...head, null, null, null, null, null]];
      return own.map((node, i) => [
        ...head,
        nodes[i].url,
        node.outcome,
        node.before,
        rounded(node.interval?.lowerMs),
        rounded(node.interval?.upperMs),
      ]);
    }),
  ]);
}
