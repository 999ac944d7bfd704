import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderChart } from './chart.js';
import { pinned, shareCores } from './cores.js';
import { renderMarkdown, renderReport } from './table.js';
import { runTimed } from './timed.js';

const REPORT = {
  bench: 'tea',
  runs: 5,
  seconds: 3,
  question: 'How long tea takes',
  chart: { column: 'minutes', named: 1 },
  columns: ['pot', 'minutes', 'met'],
  rows: [
    ['green', 2.3456, 'yes'],
    ['black', 12_345.6, ''],
    ['none', null, 'no'],
  ],
  summary: { 'cups, median': 0.5 },
  machine: {
    date: '2026-01-02T03:04:05.000Z',
    commit: 'abc',
    cpu: 'Kettle',
    cpus: 2,
    node: 'v20.0.0',
    loadBefore: 0.1,
  },
};

describe('bench tables', () => {
  it('as text: aligned, three significant digits, a dash for no measurement', () => {
    assert.deepEqual(renderReport(REPORT).split('\n').slice(0, 8), [
      'How long tea takes',
      '',
      '  pot  minutes  met',
      'green     2.35  yes',
      'black   12,346     ',
      ' none        -   no',
      '',
      'cups, median: 0.5',
    ]);
  });

  it('as Markdown: with date and machine', () => {
    assert.equal(
      renderMarkdown(REPORT),
      [
        '## tea',
        '',
        'How long tea takes; medians of 5 runs of 3 s; 2026-01-02, commit abc, 2 x Kettle, Node v20.0.0, load before 0.1.',
        '',
        '![tea](benchmarks/tea.svg)',
        '',
        '| pot | minutes | met |',
        '| --- | ---: | --- |',
        '| green | 2.35 | yes |',
        '| black | 12,346 |  |',
        '| none | - | no |',
        '',
        '- cups, median: 0.5',
        '',
      ].join('\n'),
    );
  });
});

describe('bench charts', () => {
  const barsOf = (/** @type {string} */ svg) =>
    [...svg.matchAll(/>([^<]*)<\/text><rect class="([^"]*)".* width="(\d+)" .*>([^<]*)<\/text>/g)].map(
      ([, label, className, width, text]) => ({ label, className, width: Number(width), text }),
    );

  it('a bar for each row with the figure, as long as its value', () => {
    const [green, black, ...others] = barsOf(renderChart(REPORT));
    assert.deepEqual(
      [green.label, green.text, black.label, black.text],
      ['green', '2.35', 'black', '12,346'],
    );
    assert.ok(black.width > 4000 * green.width && others.length === 0);
  });

  it('a logarithmic chart, rates, percentages, and ours set off from the others', () => {
    const report = {
      ...REPORT,
      chart: { column: 'share', named: 2, isLog: true },
      columns: ['rate/s', 'tool', 'share'],
      rows: [
        [1000, 'ours', '1.0 %'],
        [1000, 'a < b', '100 %'],
        [1000, 'none', ''],
      ],
    };
    const [ours, other, ...none] = barsOf(renderChart(report));
    assert.deepEqual(
      [ours, other].map(({ label, className, text }) => [label, className, text]),
      [
        ['1,000/s, ours', 'bar ours', '1.0 %'],
        ['1,000/s, a &lt; b', 'bar', '100 %'],
      ],
    );
    assert.ok(other.width < 10 * ours.width && none.length === 0);
  });
});

describe('bench processes', () => {
  it('returns output, exit code and CPU time of all threads', async () => {
    const script =
      "console.log('out'); console.error('err'); const t = process.cpuUsage(); while (process.cpuUsage(t).user < 3e5); process.exitCode = 3";
    const { stdout, stderr, code, cpuSeconds } = await runTimed([process.execPath, '-e', script]);
    assert.deepEqual([stdout, stderr, code], ['out\n', 'err\n', 3]);
    assert.ok(cpuSeconds >= 0.3);
  });

  it('kills a command that exceeds its limit', async () => {
    await assert.rejects(runTimed(['sleep', '60'], { limitSeconds: 0.2 }), /SIGKILL after 0.2 s/);
  });

  it('returns 127 for a missing command', async () => {
    assert.equal((await runTimed(['no-such-program-of-ours'])).code, 127);
  });

  it('pins target and generator to different processors', () => {
    const { target, generator } = shareCores();
    if (target === null) return assert.equal(generator, null);
    assert.ok(!(generator ?? '').split(',').includes(target));
    assert.deepEqual(pinned('0', ['x']), ['taskset', '-c', '0', 'x']);
    assert.deepEqual(pinned(null, ['x']), ['x']);
  });
});
