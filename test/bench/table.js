/** A report as text. */

/**
 * @param {import('./index.js').Report & {machine: Record<string, string | number>}} report
 * @returns {string}
 */
export function renderReport({ question, columns, rows, summary, machine }) {
  const table = [columns, ...rows.map((row) => row.map(figure))];
  const widths = columns.map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map((row) => row.map((cell, column) => cell.padStart(widths[column])).join('  '));
  const said = Object.entries(summary).map(([name, value]) => `${name}: ${figure(value)}`);
  const { cpu, cpus, node, loadBefore } = machine;
  return [
    question,
    '',
    ...lines,
    '',
    ...said,
    `${cpus} x ${cpu}, Node ${node}, load before ${loadBefore}`,
    '',
  ].join('\n');
}

/** @param {string | number} value */
function figure(value) {
  if (typeof value === 'string') return value;
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
