/**
 * A report is a list of sections, and each section a list of parts. `describe/` makes them of a document, once; `text.js`,
 * `markdown.js` and `html.js` render them, once each. A column, a figure or a table is described in one place and shows in
 * every format. Texts are plain: a renderer escapes or cleans them, and nothing here is markup.
 */

/** @typedef {'met' | 'not met' | 'not proven' | 'valid' | 'invalid' | 'suspect' | 'faster' | 'slower' | 'better' | 'worse' | 'no difference'} Verdict */
/**
 * @typedef {object} Bar a figure with its error bar, in one unit, for a whisker
 * @property {number | null} value
 * @property {number} low
 * @property {number | null} high null: no upper bound
 * @property {number} [limit] of a requirement
 */
/** @typedef {string | {text: string, verdict?: string, isStrong?: boolean}} Cell */
/**
 * @typedef {object} Column
 * @property {string} name
 * @property {boolean} [isText] stands to the left; figures stand to the right
 * @property {boolean} [isDetail] left out where a table has to be narrow
 */
/** @typedef {{kind: 'sentence', text: string, isStrong?: boolean}} Sentence one that is the title, with a full stop, is left out where the title is shown */
/** @typedef {{kind: 'verdicts', items: {verdict: string, name: string, text: string, reason?: string, bar?: Bar}[]}} Verdicts `text` is a short clause, `reason` a sentence or two more */
/** @typedef {{kind: 'figures', items: {name: string, value: string, range?: string, bar?: Bar, isDetail?: boolean}[]}} Figures a line of key figures; `range`: `5.1 to 12 ms`; `isDetail`: a sentence nearby says it, and text leaves it out */
/** @typedef {{kind: 'table', caption: string, columns: Column[], rows: Cell[][]}} Table the first cell of a row is its heading */
/** @typedef {{kind: 'chart', chart: string, title: string, text: string, data: unknown}} Chart `chart`: its name in charts/index.js; `text`: its content in a sentence; `data`: what the chart draws */
/** @typedef {{kind: 'note', text: string, remedy?: string}} Note a remark */
/** @typedef {{kind: 'facts', items: {name: string, text: string}[]}} Facts labelled lines */
/** @typedef {{kind: 'command', text: string, command: string}} Command one to run next */
/** @typedef {Sentence | Verdicts | Figures | Table | Chart | Note | Facts | Command} Part */
/**
 * @typedef {object} Section
 * @property {string} id letters, digits and hyphens, unique in the report
 * @property {string | null} heading null: it has none, as the answer at the beginning
 * @property {Part[]} parts
 * @property {boolean} [isDetail] folded away where a format can fold
 */
/**
 * @typedef {object} Report
 * @property {string} title of the page or document
 * @property {string} [verdict] the worst one, for the title of a page
 * @property {string} subject one line: the command and its target
 * @property {Section[]} sections the answer first
 */

/**
 * @param {Omit<Report, 'sections'> & {sections: Section[]}} report
 * @returns {Report} without empty sections, apart from the first
 */
export function report({ sections, ...head }) {
  return { ...head, sections: sections.filter(({ parts }, i) => i === 0 || parts.length > 0) };
}

/**
 * @param {string} id
 * @param {string | null} heading
 * @param {Part[]} parts
 * @returns {Section}
 */
export function section(id, heading, parts) {
  return { id, heading, parts };
}

/**
 * @param {string} text
 * @param {boolean} [isStrong]
 * @returns {Part[]} none for an empty text
 */
export function sentence(text, isStrong = false) {
  if (text === '') return [];
  return [isStrong ? { kind: 'sentence', text, isStrong } : { kind: 'sentence', text }];
}

/** @param {Verdicts['items']} items @returns {Part[]} */
export function verdicts(items) {
  return items.length === 0 ? [] : [{ kind: 'verdicts', items }];
}

/** @param {readonly {text: string, remedy?: string}[]} notes @returns {Part[]} */
export function notes(notes) {
  return notes.map(({ text, remedy }) => ({
    kind: 'note',
    text,
    ...(remedy === undefined ? {} : { remedy }),
  }));
}

/**
 * @param {[name: string, text: string][]} items those with an empty text are left out
 * @returns {Part[]}
 */
export function facts(items) {
  const filled = items.filter(([, text]) => text !== '').map(([name, text]) => ({ name, text }));
  return filled.length === 0 ? [] : [{ kind: 'facts', items: filled }];
}

/**
 * @param {string} caption
 * @param {Column[]} columns the first is that of the rows' headings
 * @param {Cell[][]} rows
 * @returns {Part[]} none without rows; a column without any cell is left out
 */
export function table(caption, columns, rows) {
  if (rows.length === 0) return [];
  const isFilled = columns.map((_, i) => i === 0 || rows.some((row) => row[i] !== ''));
  const filled = (/** @type {any[]} */ cells) => cells.filter((_, i) => isFilled[i]);
  return [{ kind: 'table', caption, columns: filled(columns), rows: rows.map(filled) }];
}

/** @param {string[]} names @returns {Column[]} of text */
export function texts(...names) {
  return names.map((name) => ({ name, isText: true }));
}

/** @param {string[]} names @returns {Column[]} of figures */
export function figures(...names) {
  return names.map((name) => ({ name }));
}

/** @param {Column[]} columns @returns {Column[]} left out where a table has to be narrow */
export function details(...columns) {
  return columns.map((column) => ({ ...column, isDetail: true }));
}

/**
 * @param {string} name in charts/index.js
 * @param {string} title
 * @param {string} text
 * @param {unknown} data
 * @returns {Part}
 */
export function chart(name, title, text, data) {
  return { kind: 'chart', chart: name, title, text, data };
}
