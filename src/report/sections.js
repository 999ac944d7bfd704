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
/**
 * @template Row
 * @typedef {Column & {cell: (row: Row) => Cell}} TableColumn a column, and its cell in each row
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
 * @property {string | null} heading null: none, as for the answer
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

/** @param {Report} report @returns {Report} without empty sections, apart from the first */
export function report({ sections, ...head }) {
  return { ...head, sections: sections.filter(({ parts }, i) => i === 0 || parts.length > 0) };
}

/** @param {readonly {verdict: string}[]} items @param {readonly string[]} [order] the worst first */
export function worstVerdict(items, order = ['not met', 'not proven', 'met']) {
  return order.find((one) => items.some(({ verdict }) => verdict === one));
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

/** @param {string} text @param {boolean} [isStrong] @returns {Part[]} none for an empty text */
export function sentence(text, isStrong = false) {
  if (text === '') return [];
  return [isStrong ? { kind: 'sentence', text, isStrong } : { kind: 'sentence', text }];
}

/** @param {Verdicts['items']} items @returns {Part[]} */
export function verdicts(items) {
  return items.length === 0 ? [] : [{ kind: 'verdicts', items }];
}

/** @param {readonly (string | {text: string, remedy?: string})[]} items @returns {Part[]} */
export function notes(items) {
  return items.map((item) => {
    const { text, remedy = undefined } = typeof item === 'string' ? { text: item } : item;
    return { kind: 'note', text, ...(remedy === undefined ? {} : { remedy }) };
  });
}

/** @param {[name: string, text: string][]} items those with an empty text are left out @returns {Part[]} */
export function facts(items) {
  const filled = items.filter(([, text]) => text !== '').map(([name, text]) => ({ name, text }));
  return filled.length === 0 ? [] : [{ kind: 'facts', items: filled }];
}

/**
 * @template Row
 * @param {string} caption
 * @param {readonly TableColumn<Row>[]} columns the first is that of the rows' headings
 * @param {readonly Row[]} rows
 * @returns {Part[]} none without rows; a column without any cell is left out
 */
export function table(caption, columns, rows) {
  if (rows.length === 0) return [];
  const filled = columns.filter(({ cell }, i) => i === 0 || rows.some((row) => cell(row) !== ''));
  return [
    {
      kind: 'table',
      caption,
      columns: filled.map(({ cell, ...column }) => column),
      rows: rows.map((row) => filled.map(({ cell }) => cell(row))),
    },
  ];
}

/**
 * @template Row
 * @param {string} name
 * @param {(row: Row) => Cell} cell
 * @returns {TableColumn<Row>}
 */
export function textColumn(name, cell) {
  return { name, isText: true, cell };
}

/**
 * @template Row
 * @param {string} name
 * @param {(row: Row) => Cell} cell
 * @returns {TableColumn<Row>}
 */
export function figureColumn(name, cell) {
  return { name, cell };
}

/**
 * @template Row
 * @param {string} name
 * @param {(row: Row) => Cell} cell
 * @returns {TableColumn<Row>} of figures, left out where a table has to be narrow
 */
export function detailColumn(name, cell) {
  return { name, isDetail: true, cell };
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

/** @param {Cell} cell */
export function cellText(cell) {
  return typeof cell === 'string' ? cell : cell.text;
}

/** @param {string} title @param {Part[]} parts @returns {Part[]} without a sentence that repeats the title */
export function withoutTitle(title, parts) {
  return parts.filter((part) => part.kind !== 'sentence' || ![title, `${title}.`].includes(part.text));
}
