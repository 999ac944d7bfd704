/**
 * The one script of HTML reports. It moves a cursor along a chart, or from dot to dot, by mouse, touch or keyboard, and writes
 * the values there into the legend. Without it the page lacks nothing else. It is kept as text and runs in a browser as it is.
 */
export const SCRIPT = `
(() => {
  'use strict';
  const HINT = 'Point at the chart, or use the arrow keys on it, to read values.';

  for (const svg of document.querySelectorAll('svg[role=img]')) {
    // Browsers show a title element as a tooltip, over the chart.
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
    if (figure !== null && data.at.length > 0) enliven(figure, data);
  }

  function enliven(figure, data) {
    const plot = figure.querySelector('.plot');
    const svgs = [...plot.querySelectorAll('svg')];
    const dots = svgs.map((svg) => [...svg.querySelectorAll('.dot.run')]);
    const entries = [...figure.querySelectorAll('.legend li')].map((item) => {
      const value = item.querySelector('.value');
      return { name: item.querySelector('.name').textContent, value };
    });
    const at = document.createElement('p');
    at.className = 'at';
    plot.after(at);
    const hint = document.querySelector('figure.live') === null ? HINT : '';
    at.textContent = hint;
    figure.classList.add('live');

    const range = document.createElement('input');
    range.type = 'range';
    range.className = 'scrub';
    range.min = '0';
    range.max = String(data.at.length - 1);
    range.step = '1';
    range.value = '0';
    range.setAttribute('aria-label', figure.querySelector('h2, h3').textContent + ': move along the chart');
    range.setAttribute('aria-valuetext', describe(0));
    plot.prepend(range);

    function describe(index) {
      if (entries.length === 0) return data.at[index];
      const values = entries.map(({ name }, i) => name + ' ' + (data.values[index][i] || 'nothing'));
      return data.at[index] + ': ' + values.join(', ');
    }

    function show(index) {
      range.value = String(index);
      range.setAttribute('aria-valuetext', describe(index));
      at.textContent = data.at[index];
      entries.forEach(({ value }, i) => { value.textContent = data.values[index][i] || '–'; });
      if (data.x === undefined) return mark(index);
      for (const svg of svgs) {
        const left = Number(svg.dataset.left);
        const x = String(left + data.x[index] * (Number(svg.dataset.right) - left));
        const cursor = svg.querySelector('.cursor');
        cursor.setAttribute('x1', x);
        cursor.setAttribute('x2', x);
        cursor.classList.add('on');
      }
    }

    function mark(index) {
      for (const own of dots) own.forEach((dot, i) => dot.classList.toggle('on', i === index));
    }

    function clear() {
      at.textContent = hint;
      if (data.x === undefined) return mark(-1);
      for (const { value } of entries) value.textContent = '';
      for (const svg of svgs) svg.querySelector('.cursor').classList.remove('on');
    }

    function point(event) {
      const svg = svgs.find((one) => one.getBoundingClientRect().width > 0);
      if (svg === undefined) return;
      const box = svg.getBoundingClientRect();
      const left = Number(svg.dataset.left);
      const { width, height } = svg.viewBox.baseVal;
      const x = ((event.clientX - box.left) / box.width) * width;
      const y = ((event.clientY - box.top) / box.height) * height;
      if (data.x === undefined) return show(nearestDot(dots[svgs.indexOf(svg)], x, y));
      show(nearest(data.x, (x - left) / (Number(svg.dataset.right) - left)));
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

  function nearestDot(own, x, y) {
    const away = own.map((dot) => Math.hypot(dot.cx.baseVal.value - x, dot.cy.baseVal.value - y));
    return away.indexOf(Math.min(...away));
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
