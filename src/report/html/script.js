/**
 * The one script of HTML reports. It moves a cursor along a chart, by mouse, touch or keyboard, and writes the values there into
 * the legend. Without it the page lacks nothing else. It is kept as text and runs in a browser as it is.
 */
export const SCRIPT = `
(() => {
  'use strict';
  let hint = 'Point at the chart, or use the arrow keys on it, to read values.';
  for (const figure of document.querySelectorAll('figure[data-places]')) {
    enliven(figure, hint);
    hint = '';
  }

  function enliven(figure, hint) {
    const places = figure.dataset.places.split(' ').map(Number);
    const rows = [...figure.querySelectorAll('tbody tr')].map(({ children }) =>
      [...children].map(({ textContent }) => textContent));
    const plot = figure.querySelector('.plot');
    const svgs = [...plot.querySelectorAll('svg')];
    const names = [...figure.querySelectorAll('.legend .name')].map(({ textContent }) => textContent);
    const outputs = figure.querySelectorAll('.legend .value');
    const at = document.createElement('p');
    at.className = 'at';
    figure.querySelector('figcaption').append(at);
    figure.classList.add('live');

    const range = document.createElement('input');
    Object.assign(range, { type: 'range', className: 'scrub', min: 0, max: rows.length - 1, step: 1 });
    range.setAttribute('aria-label', figure.querySelector('h2, h3').textContent + ': move along the chart');
    plot.prepend(range);

    function show(index, isOn = true) {
      const [moment, ...values] = rows[index];
      range.value = index;
      range.setAttribute('aria-valuetext', moment + ': ' + values.map((value, i) => names[i] + ' ' + value).join(', '));
      at.textContent = isOn ? moment : hint;
      outputs.forEach((output, i) => { output.textContent = isOn ? values[i] ?? '' : ''; });
      for (const svg of svgs) {
        const { left, right } = svg.dataset;
        const x = Number(left) + places[index] * (right - left);
        const cursor = svg.querySelector('.cursor');
        cursor.setAttribute('x1', x);
        cursor.setAttribute('x2', x);
        cursor.classList.toggle('on', isOn);
      }
    }

    function point(event) {
      const svg = svgs.find((one) => one.getBoundingClientRect().width > 0);
      const box = svg.getBoundingClientRect();
      const { left, right } = svg.dataset;
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      const away = places.map((place) => Math.abs(place - (x - left) / (right - left)));
      show(away.indexOf(Math.min(...away)));
    }

    const clear = () => show(range.valueAsNumber, false);
    show(0, false);
    for (const name of ['pointerdown', 'pointermove']) plot.addEventListener(name, point);
    for (const name of ['input', 'focus']) range.addEventListener(name, () => show(range.valueAsNumber));
    range.addEventListener('blur', clear);
    // After a touch the values stay.
    plot.addEventListener('pointerleave', ({ pointerType }) => { if (pointerType === 'mouse') clear(); });
  }
})();
`;
