/** @param {string} word misspelt @param {readonly string[]} known @returns {string | null} null: none is close */
export function closest(word, known) {
  if (word.length > 40) return null;
  const plain = (/** @type {string} */ text) => text.toLowerCase().replace(/[\s_-]/g, '');
  const maxEdits = word.length <= 4 ? 1 : word.length <= 8 ? 2 : 3;
  const [nearest] = known
    .map((name) => ({ name, edits: distance(plain(word), plain(name)) }))
    .filter(({ name, edits }) => edits <= maxEdits && edits < name.length)
    .sort((a, b) => a.edits - b.edits);
  return nearest?.name ?? null;
}

/** @param {string} a @param {string} b @returns edits, including swaps (optimal string alignment) */
function distance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      rows[i][j] = Math.min(
        rows[i - 1][j] + 1,
        rows[i][j - 1] + 1,
        rows[i - 1][j - 1] + change,
        isSwapped ? rows[i - 2][j - 2] + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return rows[a.length][b.length];
}
