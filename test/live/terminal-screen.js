/**
 * As much of a terminal as the live view needs: what can be seen of what was written, also after its size has changed. Lines
 * that have become too long are broken in two, as today's terminals do it.
 */

/** A sequence that moves or erases, one that only sets colours or modes, a control character, or text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const PIECES = /\u001b\[(\??)([\d;]*)([A-Za-z])|([\r\n])|([^\u001b\r\n]+)/g;

/** @param {{columns?: number, rows?: number}} [size] */
export function createTerminalScreen({ columns = 80, rows: height = 24 } = {}) {
  /** `goesOn`: the row below is the rest of it. @type {{text: string, goesOn: boolean}[]} */
  let rows = [{ text: '', goesOn: false }];
  let row = 0;
  let column = 0;

  /** @param {number} to */
  function moveTo(to) {
    row = Math.max(0, rows.length - height, to);
    while (rows.length <= row) rows.push({ text: '', goesOn: false });
  }

  /** @param {string} text */
  function put(text) {
    for (const character of text) {
      if (column === columns) {
        rows[row].goesOn = true;
        moveTo(row + 1);
        column = 0;
      }
      const old = rows[row].text.padEnd(column);
      rows[row].text = old.slice(0, column) + character + old.slice(column + 1);
      column++;
    }
  }

  /** @param {string} name @param {string} values */
  function obey(name, values) {
    const count = Number(values || 1);
    const one = rows[row];
    if (name === 'A') moveTo(row - count);
    else if (name === 'B') moveTo(Math.min(row + count, rows.length - 1));
    else if (name === 'G') column = count - 1;
    else if (name === 'K') one.text = values === '2' ? '' : one.text.slice(0, column);
    else if (name === 'J') {
      one.text = one.text.slice(0, column);
      one.goesOn = false;
      rows.length = row + 1;
    } else if (name === 't') {
      // XTWINOPS: what a test prints where the terminal changes its size.
      const [, newRows, newColumns] = values.split(';').map(Number);
      resize(newColumns, newRows);
    } else if (name !== 'm') throw new Error(`What is ESC [ ${values} ${name}?`);
  }

  /** Nothing is below the cursor. @param {number} newColumns @param {number} [newRows] */
  function resize(newColumns, newRows = height) {
    /** @type {string[]} */
    const whole = [];
    let begins = true;
    for (const { text, goesOn } of rows.slice(0, row + 1)) {
      if (begins) whole.push(text);
      else whole[whole.length - 1] += text;
      begins = !goesOn;
    }
    columns = newColumns;
    height = newRows;
    rows = whole.flatMap((line) => {
      const parts = line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''];
      return parts.map((text, i) => ({ text, goesOn: i < parts.length - 1 }));
    });
    row = rows.length - 1;
  }

  return {
    /** @param {string} text */
    write(text) {
      for (const [, mode, values, name, control, plain] of text.matchAll(PIECES)) {
        if (plain !== undefined) put(plain);
        else if (control === '\r') column = 0;
        else if (control === '\n') {
          moveTo(row + 1);
          column = 0;
        } else if (mode === '') obey(name, values);
      }
    },
    resize,
    /** @returns {string[]} all that was ever there, trailing blanks left out */
    lines: () => rows.map(({ text }) => text.trimEnd()),
  };
}
