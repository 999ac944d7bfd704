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

export {};
