/**
 * The one script of HTML reports: moves a line along a chart, by mouse, touch or keyboard, and writes what is there into the
 * legend. The page says all it has to say without it. Kept as text: it runs in a browser, as it stands here.
 */
export const SCRIPT = `
(() => {
  'use strict';
  const HINT = 'Point at a chart, or use the arrow keys on it, to read out values.';

  for (const svg of document.querySelectorAll('svg[role=img]')) {
    // A title element would pop up over what is pointed at.
    const title = svg.querySelector(':scope > title');
    if (title === null) continue;
    svg.setAttribute('aria-label', title.textContent);
    svg.removeAttribute('aria-labelledby');
    title.remove();
  }

  const block = document.getElementById('chart-data');
  const charts = block === null ? {} : JSON.parse(block.textContent).charts || {};
  for (const [id, data] of Object.entries(charts)) {
    const figure = document.getElementById(id);
    if (figure !== null && data.x.length > 0) enliven(figure, data);
  }
  const first = document.querySelector('figure.live');
  if (first !== null) {
    const hint = document.createElement('p');
    hint.className = 'muted hint';
    hint.textContent = HINT;
    first.parentElement.before(hint);
  }

  function enliven(figure, data) {
    const plot = figure.querySelector('.plot');
    const svgs = [...plot.querySelectorAll('svg')];
    const entries = [...figure.querySelectorAll('.legend li')].map((item) => {
      const value = item.querySelector('.value');
      return { name: item.querySelector('.name').textContent, value, initial: value.textContent };
    });
    const at = document.createElement('p');
    at.className = 'at';
    plot.after(at);
    figure.classList.add('live');

    const range = document.createElement('input');
    range.type = 'range';
    range.className = 'scrub';
    range.min = '0';
    range.max = String(data.x.length - 1);
    range.step = '1';
    range.value = '0';
    range.setAttribute('aria-label', figure.querySelector('h3').textContent + ': move along the chart');
    range.setAttribute('aria-valuetext', describe(0));
    plot.prepend(range);

    function describe(index) {
      const values = entries.map(({ name }, i) => name + ' ' + (data.values[index][i] || 'nothing'));
      return data.at[index] + ': ' + values.join(', ');
    }

    function show(index) {
      range.value = String(index);
      range.setAttribute('aria-valuetext', describe(index));
      at.textContent = data.at[index];
      entries.forEach(({ value }, i) => { value.textContent = data.values[index][i] || '–'; });
      for (const svg of svgs) {
        const left = Number(svg.dataset.left);
        const x = String(left + data.x[index] * (Number(svg.dataset.right) - left));
        const cursor = svg.querySelector('.cursor');
        cursor.setAttribute('x1', x);
        cursor.setAttribute('x2', x);
        cursor.classList.add('on');
      }
    }

    function clear() {
      at.textContent = '';
      for (const { value, initial } of entries) value.textContent = initial;
      for (const svg of svgs) svg.querySelector('.cursor').classList.remove('on');
    }

    function point(event) {
      const svg = svgs.find((one) => one.getBoundingClientRect().width > 0);
      if (svg === undefined) return;
      const box = svg.getBoundingClientRect();
      const left = Number(svg.dataset.left);
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      show(nearest(data.x, (x - left) / (Number(svg.dataset.right) - left)));
    }

    plot.addEventListener('pointerdown', point);
    plot.addEventListener('pointermove', point);
    plot.addEventListener('pointerleave', (event) => {
      // After a touch the values stay to be read.
      if (event.pointerType === 'mouse') clear();
    });
    range.addEventListener('input', () => show(range.valueAsNumber));
    range.addEventListener('focus', () => show(range.valueAsNumber));
    range.addEventListener('blur', clear);
  }

  function nearest(places, wanted) {
    let low = 0;
    let high = places.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && wanted - places[low - 1] < places[low] - wanted) return low - 1;
    return low;
  }
})();
`;
