/**
 * A report is a list of sections, and each section a list of parts. `describe/` builds them from a document;
 * `text.js`, `markdown.js` and `html.js` render them. Texts are plain; a renderer escapes them for its markup.
 */

/**
 * @typedef {{value: number | null, low: number, high: number | null, limit?: number}} Bar a figure with its error bar, in one unit, for a whisker; `high` null: no upper bound; `limit` of a requirement
 */
/** @typedef {string | {text: string, verdict?: string, isStrong?: boolean}} Cell */
/** @typedef {{name: string, isText?: boolean, isDetail?: boolean}} Head narrow tables omit details */
/** @template Row @typedef {[name: string, cell: (row: Row) => Cell, kind?: 'text' | 'detail']} Column of figures */
/** @typedef {{kind: 'sentence', text: string, isStrong?: boolean}} Sentence */
/** @typedef {{verdict: string, name: string, text: string, reason?: string, bar?: Bar}} VerdictItem `text`: a clause */
/** @typedef {{kind: 'verdicts', items: VerdictItem[]}} Verdicts */
/**
 * @typedef {{name: string, value: string, range?: string, bar?: Bar, isDetail?: boolean}} Figure `range`: `5.1 to 12 ms`; `isDetail`: a sentence nearby has it, so text omits it
 */
/** @typedef {{kind: 'figures', items: Figure[]}} Figures a line of key figures */
/** @typedef {{kind: 'table', caption: string, columns: Head[], rows: Cell[][]}} Table rows begin with their heading */
/** @typedef {{kind: 'chart', chart: string, title: string, text: string, data: unknown}} Chart of charts/index.js */
/** @typedef {{kind: 'note', text: string, remedy?: string}} Note */
/** @typedef {{kind: 'facts', items: {name: string, text: string}[], isCode?: boolean}} Facts `isCode`: commands */
/** @typedef {Sentence | Verdicts | Figures | Table | Chart | Note | Facts} Part */
/**
 * @typedef {{id: string, heading: string | null, parts: Part[], isDetail?: boolean}} Section `id`: letters, digits and hyphens, unique in the report; `heading` null: none, as for the answer; `isDetail`: folded in HTML
 */
/**
 * @typedef {{title: string, verdict?: string, subject: string, sections: Section[]}} Report `verdict`: the worst one, for the title of a page; `subject`: one line, the command and its target; the section with the answer is the first
 */

/** @param {Report} report @returns {Report} without empty sections, except the first */
export function report({ sections, ...head }) {
  return { ...head, sections: sections.filter(({ parts }, i) => i === 0 || parts.length > 0) };
}

/** @param {string} id @param {string | null} heading @param {Part[]} parts @returns {Section} */
export const section = (id, heading, parts) => ({ id, heading, parts });

const TONES = {
  good: ['met', 'valid', 'better', 'passed'],
  bad: ['not met', 'invalid', 'worse', 'failed'],
  unsure: ['not proven', 'suspect'],
};

/** @param {string} verdict @returns {keyof typeof TONES | 'neutral'} */
export function toneOf(verdict) {
  const tones = /** @type {(keyof typeof TONES)[]} */ (Object.keys(TONES));
  return tones.find((tone) => TONES[tone].includes(verdict)) ?? 'neutral';
}

/** @param {string} text @param {boolean} [isStrong] @returns {Part[]} none for an empty text */
export function sentence(text, isStrong = false) {
  return text === '' ? [] : [{ kind: 'sentence', text, isStrong }];
}

/** @param {VerdictItem[]} items @returns {Part[]} */
export const verdicts = (items) => (items.length === 0 ? [] : [{ kind: 'verdicts', items }]);

/** @param {Figure[]} items @returns {Part[]} */
export const figures = (items) => (items.length === 0 ? [] : [{ kind: 'figures', items }]);

/** @param {readonly (string | {text: string, remedy?: string})[]} items @returns {Part[]} */
export function notes(items) {
  return items.map((item) => {
    const { text, remedy } = typeof item === 'string' ? { text: item } : item;
    return { kind: 'note', text, remedy };
  });
}

/** @param {readonly string[][]} items name and text; omits empty texts @param {boolean} [isCode] @returns {Part[]} */
export function facts(items, isCode = false) {
  const filled = items.filter(([, text]) => text !== '').map(([name, text]) => ({ name, text }));
  return filled.length === 0 ? [] : [{ kind: 'facts', items: filled, isCode }];
}

/**
 * Empty if there are no rows. Omits empty columns. The first column has the row headings.
 * @template Row @param {string} caption @param {readonly Column<Row>[]} columns @param {readonly Row[]} rows @returns {Part[]}
 */
export function table(caption, columns, rows) {
  if (rows.length === 0) return [];
  const filled = columns.filter(([, cell], i) => i === 0 || rows.some((row) => cell(row) !== ''));
  const heads = filled.map(([name, , kind], i) => ({
    name,
    isText: i === 0 || kind === 'text',
    isDetail: kind === 'detail',
  }));
  const cells = rows.map((row) => filled.map(([, cell]) => cell(row)));
  return [{ kind: 'table', caption, columns: heads, rows: cells }];
}

/** @type {(name: string, title: string, text: string, data: unknown) => Part} `name`: in charts/index.js */
export const chart = (name, title, text, data) => ({ kind: 'chart', chart: name, title, text, data });

/** @param {Cell} cell */
export const cellText = (cell) => (typeof cell === 'string' ? cell : cell.text);

/** @param {string} title @param {Part[]} parts @returns {Part[]} without a sentence that the title ends with */
export function withoutTitle(title, parts) {
  return parts.filter((part) => part.kind !== 'sentence' || !title.endsWith(part.text.replace(/\.$/, '')));
}
