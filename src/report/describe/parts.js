/** Makes the sections of a report and their parts; what has no content is left out. */

/** @typedef {import('../sections.js').Part} Part */
/** @typedef {import('../sections.js').Cell} Cell */
/** @typedef {import('../sections.js').Column} Column */
/** @typedef {import('../sections.js').Section} Section */
/** @typedef {import('../sections.js').Report} Report */

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

/**
 * @param {import('../sections.js').Verdicts['items']} items
 * @returns {Part[]}
 */
export function verdicts(items) {
  return items.length === 0 ? [] : [{ kind: 'verdicts', items }];
}

/**
 * @param {readonly {text: string, remedy?: string}[]} notes
 * @returns {Part[]}
 */
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

/**
 * @param {string[]} names
 * @returns {Column[]} of text
 */
export function texts(...names) {
  return names.map((name) => ({ name, isText: true }));
}

/**
 * @param {string[]} names
 * @returns {Column[]} of figures
 */
export function figures(...names) {
  return names.map((name) => ({ name }));
}

/**
 * @param {Column[]} columns
 * @returns {Column[]} left out where a table has to be narrow
 */
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
