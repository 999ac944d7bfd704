/** Which histogram of a Result cannot be decoded: what does not add up otherwise can still be shown, and says so itself. */
import { readHistogram, SERIES } from './check/check-latency.js';

/** @typedef {import('./schema.js').Result} Result */
/** @typedef {import('./schema.js').OperationBlock} OperationBlock */
/** @typedef {[place: string, text: string | null | undefined]} Placed */

/**
 * @param {Result} result
 * @returns {string | null} where the first of them is, e.g. `latencyMs.response.histogram`; null: all can be read
 */
export function findUnreadable(result) {
  const found = [...placesOf(result)].find(
    ([, text]) => typeof text === 'string' && readHistogram(text) === null,
  );
  return found === undefined ? null : found[0];
}

/** @param {Result} result @returns {Generator<Placed>} */
function* placesOf(result) {
  yield* placesOfBlock(result, '');
  for (const [name, block] of Object.entries(result.operations))
    yield* placesOfBlock(block, `operations.${name}.`);
  for (const { second, histogram } of result.timeline) yield [`timeline.${second}.histogram`, histogram];
  if (result.merge === undefined) return;
  const { watch, lags, operations } = result.merge;
  for (const key of /** @type {const} */ (['lag', 'readLate'])) yield [`merge.watch.${key}`, watch[key]];
  for (const [name, { own = {} }] of Object.entries(operations)) {
    for (const [outcome, { response, service }] of Object.entries(own)) {
      yield [`merge.operations.${name}.own.${outcome}.response`, response];
      yield [`merge.operations.${name}.own.${outcome}.service`, service];
    }
  }
  for (const [second, lag] of lags.entries()) yield [`merge.lags.${second}.histogram`, lag?.histogram];
}

/**
 * @param {OperationBlock} block
 * @param {string} where
 * @returns {Generator<Placed>}
 */
function* placesOfBlock({ latencyMs, outcomeDetails }, where) {
  yield* placesOfSeries(latencyMs, `${where}latencyMs`);
  for (const [name, detail] of Object.entries(outcomeDetails)) {
    yield* placesOfSeries(detail.latencyMs, `${where}outcomeDetails.${name}.latencyMs`);
  }
}

/**
 * @param {import('./schema.js').LatencyBlocks} latencies
 * @param {string} where
 * @returns {Generator<Placed>}
 */
function* placesOfSeries(latencies, where) {
  for (const series of SERIES) yield [`${where}.${series}.histogram`, latencies[series].histogram];
}
