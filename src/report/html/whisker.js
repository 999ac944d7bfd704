/** An error bar as a small drawing on a scale from 0. The text beside it says the same. */

/** @typedef {import('../sections.js').Bar} Bar */

/** Of the drawing, and of the line at its middle; pixels. */
const HEIGHT = 20;
const MIDDLE = 10;

/** Room for a dot at either end. */
const EDGE = 5;

/** Half the height of caps, and of the mark of the limit. */
const CAP = 4;
const LIMIT = 9;

/** The largest figure lies this far along, so that what lies beyond it shows. */
const REACH = 0.92;

/** The shortest bar that is seen as one. */
const LEAST_WIDTH = 3;

/**
 * @param {Bar} bar
 * @param {number} width
 * @param {string} [worth] `good`, `bad` or `unsure`: with a limit, the side of it that the bar keeps to is shaded
 * @returns {string} SVG
 */
export function whisker({ value, low, high, limit }, width, worth = 'neutral') {
  const most = Math.max(low, high ?? 0, value ?? 0, limit ?? 0);
  const end = width - EDGE;
  const x = (/** @type {number} */ at) => {
    const share = most > 0 ? Math.min(1, Math.max(0, at / most) * REACH) : 0;
    return Math.round((EDGE + share * (end - EDGE)) * 10) / 10;
  };
  const mark = limit === undefined ? null : x(limit);
  const right = high === null ? end : x(high);
  const left = Math.min(x(low), right - LEAST_WIDTH);
  const parts = [
    mark === null || worth === 'unsure' ? '' : side(mark, (left + right) / 2 < mark ? EDGE : end),
    `<path class="track" d="M${EDGE} ${MIDDLE}H${end}"/>`,
    mark === null ? '' : `<path class="mark" d="M${mark} ${MIDDLE - LIMIT}V${MIDDLE + LIMIT}"/>`,
    `<path class="bar" d="M${left} ${MIDDLE - CAP}v${2 * CAP}M${left} ${MIDDLE}H${right}${tip(right, high === null)}"/>`,
    value === null ? '' : `<circle class="value" cx="${x(value)}" cy="${MIDDLE}" r="3.5"/>`,
  ];
  return `<svg class="bars ${worth}" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" aria-hidden="true">${parts.join('')}</svg>`;
}

/**
 * @param {number} mark
 * @param {number} edge of the scale on the bar's side
 */
function side(mark, edge) {
  const [left, right] = [Math.min(mark, edge), Math.max(mark, edge)];
  return `<rect class="side" x="${left}" y="${MIDDLE - 6}" width="${(right - left).toFixed(1)}" height="12"/>`;
}

/**
 * @param {number} right
 * @param {boolean} isOpen it has no upper bound
 */
function tip(right, isOpen) {
  if (isOpen) return `M${right - CAP} ${MIDDLE - CAP}L${right} ${MIDDLE}L${right - CAP} ${MIDDLE + CAP}`;
  return `M${right} ${MIDDLE - CAP}v${2 * CAP}`;
}
