/** Reads the markup of pages and charts: what is text, where it stands, what it touches. */

/** @param {string} html @returns {string[]} the charts' SVGs, of both sizes */
export function chartsIn(html) {
  return html.match(/<svg class="chart [\s\S]*?<\/svg>/g) ?? [];
}

/** @param {string} html @returns {string} without what is in script and style elements */
export function withoutCode(html) {
  return html
    .replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1</script>')
    .replace(/<style>[\s\S]*?<\/style>/g, '<style></style>');
}

/** @typedef {{text: string, left: number, right: number, top: number, bottom: number}} TextBox */

const SIZE = 13;

/** Which share of a text is left of its place. @type {Record<string, number>} */
const ANCHORS = { start: 0, middle: 0.5, end: 1 };

/** In ems, of the usual sans-serif fonts. @param {string} text */
function width(text) {
  const ems = [...text].map((character) => {
    if (/[ .,:;'"!|ijltfrI()[\]\\/-]/.test(character)) return 0.35;
    if (/[mwMW%…]/.test(character)) return 0.9;
    return /[\u0020-\u024f–]/.test(character) ? 0.61 : 1;
  });
  return ems.reduce((sum, em) => sum + em, 0) * SIZE;
}

/** @param {string} svg @returns {TextBox[]} where its texts stand */
export function textBoxes(svg) {
  const texts = svg.matchAll(/<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)">([\s\S]*?)<\/text>/g);
  return [...texts].map(([, x, y, anchor, inner]) => {
    const text = plain(inner.replace(/<title>[\s\S]*?<\/title>/, ''));
    const left = Number(x) - ANCHORS[anchor] * width(text);
    return {
      text,
      left,
      right: left + width(text),
      top: Number(y) - 0.8 * SIZE,
      bottom: Number(y) + 0.25 * SIZE,
    };
  });
}

/** @param {string} html @returns {string} with the characters that entities stand for */
function plain(html) {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** @param {string} svg @returns {string[]} one sentence for each text that touches another or sticks out */
export function collisions(svg) {
  const [, whole, height] = (/viewBox="0 0 (\S+) (\S+)"/.exec(svg) ?? []).map(Number);
  const boxes = textBoxes(svg);
  const touching = boxes.flatMap((a, i) =>
    boxes
      .slice(i + 1)
      .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
      .map((b) => `${JSON.stringify(a.text)} touches ${JSON.stringify(b.text)}`),
  );
  const outside = boxes
    .filter(({ left, right, top, bottom }) => left < 0 || right > whole || top < 0 || bottom > height)
    .map(({ text, left, right }) => `${JSON.stringify(text)} sticks out: ${left} to ${right} of ${whole}`);
  return [...touching, ...outside];
}
