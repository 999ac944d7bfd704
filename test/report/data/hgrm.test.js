import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeHistogram } from '../../../src/common/histogram.js';
import { bucketsOf, countsUpTo } from '../../../src/report/data/buckets.js';
import { render } from '../../../src/report/data/hgrm.js';
import { SAMPLES } from '../samples.js';

const ROW = /^ *(\d+\.\d{3}) (\d\.\d{12}) +(\d+)(?: +(\d+\.\d{2}))?$/;

for (const [name, result] of Object.entries(SAMPLES)) {
  test(`the distribution of ${name} has Java's layout and the histogram's values`, () => {
    const { count, histogram, max } = result.latencyMs.response;
    const lines = render(result).split('\n');
    assert.equal(lines[0], '       Value     Percentile TotalCount 1/(1-Percentile)');
    assert.equal(lines[1], '');
    const rows = lines.slice(2).filter((line) => line !== '' && !line.startsWith('#'));
    const buckets = histogram === null ? [] : bucketsOf(decodeHistogram(histogram));
    for (const [i, line] of rows.entries()) {
      const found = ROW.exec(line);
      assert.ok(found !== null, line);
      const [, value, share, below, inverse] = found;
      assert.equal(inverse === undefined, i === rows.length - 1, 'the last row alone has no fourth column');
      const [upTo] = countsUpTo(buckets, [Math.round(Number(value) * 1000)]);
      assert.equal(Number(below), upTo, line);
      assert.ok(upTo >= Number(share) * count * (1 - 1e-9), line);
    }
    assert.equal(rows.length > 0, count > 0);
    const [mean, longest, size] = lines.slice(2 + rows.length);
    assert.match(mean, /^#\[Mean {4}= +\d+\.\d{3}, StdDeviation {3}= +\d+\.\d{3}\]$/);
    const total = /^#\[Max {5}= +(\d+\.\d{3}), Total count {4}= +(\d+)\]$/.exec(longest);
    assert.equal(Number(total?.[2]), count);
    assert.ok(Math.abs(Number(total?.[1]) - Number(max)) <= 0.001 + 0.002 * Number(max));
    assert.match(size, /^#\[Buckets = +\d+, SubBuckets {5}= +2048\]$/);
  });
}
