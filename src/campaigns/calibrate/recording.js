/** Times of many requests, in arrays that grow: no object for each, so that recording costs next to nothing. */

/**
 * @typedef {object} Recorded milliseconds on the server's clock, in order of arrival
 * @property {Float64Array} arrivedMs when the server noticed it
 * @property {Float64Array} answeredMs NaN: never
 */

const FIRST_CAPACITY = 4096;

export function createRecording() {
  let count = 0;
  let columns = [1, 2].map(() => new Float64Array(FIRST_CAPACITY));

  function grow() {
    columns = columns.map((column) => {
      const longer = new Float64Array(2 * column.length);
      longer.set(column);
      return longer;
    });
  }
  return {
    /**
     * @param {number} nowMs
     * @returns {number} the request's number
     */
    arrived(nowMs) {
      if (count === columns[0].length) grow();
      const [arrived, answered] = columns;
      arrived[count] = nowMs;
      answered[count] = Number.NaN;
      return count++;
    },
    /** @param {number} index @param {number} nowMs */
    answered(index, nowMs) {
      columns[1][index] = nowMs;
    },
    /** @returns {Recorded} */
    taken() {
      const [arrivedMs, answeredMs] = columns.map((column) => column.slice(0, count));
      return { arrivedMs, answeredMs };
    },
  };
}
