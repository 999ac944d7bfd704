/**
 * The one script of HTML reports. It moves a cursor along a chart, by mouse, touch or keyboard, and writes the values there into
 * the legend. Without it the page lacks nothing else. It is kept as text and runs in a browser as it is.
 */
export const SCRIPT = `
(() => {
  'use strict';
  const HINT = 'Point at the chart, or use the arrow keys on it, to read values.';
  const { charts } = JSON.parse(document.getElementById('chart-data').textContent);
  for (const [i, [id, data]] of Object.entries(charts).entries()) {
    enliven(document.getElementById(id), data, i === 0 ? HINT : '');
  }

  function enliven(figure, data, hint) {
    const plot = figure.querySelector('.plot');
    const svgs = [...plot.querySelectorAll('svg')];
    const names = [...figure.querySelectorAll('.legend .name')].map(({ textContent }) => textContent);
    const outputs = [...figure.querySelectorAll('.legend .value')];
    const at = document.createElement('p');
    at.className = 'at';
    at.textContent = hint;
    plot.after(at);
    figure.classList.add('live');

    const range = document.createElement('input');
    const title = figure.querySelector('h2, h3').textContent;
    Object.assign(range, { type: 'range', className: 'scrub', min: 0, max: data.at.length - 1, step: 1, value: 0 });
    range.setAttribute('aria-label', title + ': move along the chart');
    range.setAttribute('aria-valuetext', describe(0));
    plot.prepend(range);

    function describe(index) {
      const values = names.map((name, i) => name + ' ' + data.values[index][i]);
      return data.at[index] + ': ' + values.join(', ');
    }

    function show(index) {
      range.value = index;
      range.setAttribute('aria-valuetext', describe(index));
      at.textContent = data.at[index];
      outputs.forEach((output, i) => { output.textContent = data.values[index][i]; });
      for (const svg of svgs) {
        const left = Number(svg.dataset.left);
        const x = left + data.x[index] * (Number(svg.dataset.right) - left);
        const cursor = svg.querySelector('.cursor');
        cursor.setAttribute('x1', x);
        cursor.setAttribute('x2', x);
        cursor.classList.add('on');
      }
    }

    function clear() {
      at.textContent = hint;
      for (const output of outputs) output.textContent = '';
      for (const svg of svgs) svg.querySelector('.cursor').classList.remove('on');
    }

    function point(event) {
      const svg = svgs.find((one) => one.getBoundingClientRect().width > 0);
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      const left = Number(svg.dataset.left);
      const wanted = (x - left) / (Number(svg.dataset.right) - left);
      const away = data.x.map((place) => Math.abs(place - wanted));
      show(away.indexOf(Math.min(...away)));
    }

    plot.addEventListener('pointerdown', point);
    plot.addEventListener('pointermove', point);
    plot.addEventListener('pointerleave', (event) => {
      // After a touch the values stay.
      if (event.pointerType === 'mouse') clear();
    });
    range.addEventListener('input', () => show(range.valueAsNumber));
    range.addEventListener('focus', () => show(range.valueAsNumber));
    range.addEventListener('blur', clear);
  }
})();
`;
