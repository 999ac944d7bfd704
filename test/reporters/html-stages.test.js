import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../../src/reporters/html/result-page.js';
import { SAMPLES } from './samples.js';

test('where stages begin is marked in the charts over time, with their names, and a table has their figures', () => {
  const html = render(SAMPLES.staged);
  const figures = html.split('<figure').filter((part) => part.includes('class="stage"'));
  assert.deepEqual(figures.map((figure) => /id="([^"]+)"/.exec(figure)?.[1]).sort(), [
    'errors-over-time',
    'latency-over-time',
    'rates',
    'send-lag-over-time',
  ]);
  for (const figure of figures) {
    const wide = figure.slice(figure.indexOf('<svg'), figure.indexOf('</svg>'));
    assert.equal(wide.match(/class="stage"/g)?.length, 3);
    assert.match(wide, />ramp<[\s\S]*>steady</);
  }
  assert.match(html, />Stages, by when requests were due/);
  assert.match(html, /0 to 60\/s/);
  assert.equal(html.match(/<th scope="row"[^>]*>steady</g)?.length, 3, 'the stage, and each operation in it');
});

test('a run without stages has no marks', () => {
  assert.doesNotMatch(render(SAMPLES['two-operations']), /class="stage"|Stages, by when/);
});
