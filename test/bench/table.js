/** A report as text, and as Markdown. */
/** @import { Report } from './index.js' */

/** @typedef {Report & {bench: string, runs: number, seconds: number, machine: Record<string, string | number>}} SavedReport */

/** @param {SavedReport} report @returns {string} */
export function renderReport({ question, columns, rows, summary, machine }) {
  const table = [columns, ...rows.map((row) => row.map(figure))];
  const widths = columns.map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map((row) => row.map((cell, column) => cell.padStart(widths[column])).join('  '));
  return [question, '', ...lines, '', ...summaryLines(summary), describe(machine), ''].join('\n');
}

/** @param {SavedReport} report @returns {string} */
export function renderMarkdown(report) {
  const { bench, question, columns, rows, summary, machine, runs, seconds } = report;
  const basis = report.basis ?? `medians of ${runs} runs of ${seconds} s`;
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  const aligned = columns.map((_, column) => (rows.every((row) => isText(row[column])) ? '---' : '---:'));
  return [
    `## ${bench}`,
    '',
    `${question}; ${basis}; ${String(machine.date).slice(0, 10)}, commit ${machine.commit}, ${describe(machine)}.`,
    '',
    `![${bench}](benchmarks/${bench}.svg)`,
    '',
    line(columns),
    line(aligned),
    ...rows.map((row) => line(row.map(figure))),
    '',
    ...summaryLines(summary).flatMap((text) => [`- ${text}`]),
    '',
  ].join('\n');
}

/** @param {Record<string, number | string>} summary */
function summaryLines(summary) {
  return Object.entries(summary).map(([name, value]) => `${name}: ${figure(value)}`);
}

/** @param {Record<string, string | number>} machine */
function describe({ cpu, cpus, node, loadBefore }) {
  return `${cpus} x ${cpu}, Node ${node}, load before ${loadBefore}`;
}

/** @param {string | number | null} value */
function isText(value) {
  return typeof value === 'string';
}

/** @param {string | number | null} value @returns {string} */
export function figure(value) {
  if (value === null) return '-';
  if (typeof value === 'string') return value;
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}
