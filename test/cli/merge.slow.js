/** `--shard` and `merge`: a plan in parts on the embedded server, begun at the same time. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { startFaultProxy } from '../run/support.js';
import { assertDone, devServer, EC, environmentOf, rightResult, runCli, scratch } from './support.js';

const path = scratch({ after });

describe('parts of a plan on the embedded server', () => {
  const server = devServer();

  test('send together the same requests as one run, start together, and merge into one result', async (t) => {
    const proxy = await startFaultProxy(server.url);
    t.after(proxy.close);
    const env = environmentOf({ url: proxy.url, token: server.token });
    const load = '--rate 60/s --duration 3s --warmup 500ms --seed 11 --concurrency 20'.split(' ');
    const startAt = new Date(Date.now() + 15_000).toISOString();
    const names = ['--cn', 'h-{n}.example.com', '--require', 'rate>=55/s'];
    const files = [path('p0.json'), path('p1.json')];
    const ended = await Promise.all(
      files.map((file, k) => {
        const own = ['--shard', `${k}/2`, '--start-at', startAt, '--threads', String(k + 1), '--out', file];
        return runCli(['issue', ...EC, ...names, ...load, ...own, '--quiet'], { env });
      }),
    );
    for (const one of ended) assertDone(one);
    const parts = files.map((file) => rightResult(readFileSync(file, 'utf8')));
    assert.deepEqual(
      parts.map(({ shard, totals }) => [shard, totals.planned]),
      [
        [{ index: 0, of: 2 }, 90],
        [{ index: 1, of: 2 }, 90],
      ],
    );
    const merged = await runCli(['merge', ...files, '--format', 'json']);
    const sum = rightResult(merged.stdout);
    assert.deepEqual([sum.totals.planned, sum.totals.succeeded, sum.load.threads], [180, 180, 3]);
    assert.deepEqual(sum.outcomes, { issued: 180 });
    assert.equal(sum.shard, undefined);
    assert.match(String(sum.verification.notes), /^Serials were compared within each part/);
    assert.equal(
      merged.code === 98 ? 'invalid' : 'other',
      sum.measurement.verdict === 'invalid' ? 'invalid' : 'other',
    );
    const asked = proxy.seen.map(({ body }) => Number(/h-(\d+)\./.exec(body)?.[1])).sort((a, b) => a - b);
    assert.deepEqual(asked, [...Array(210).keys()], 'every index of the schedule, warm-up included');
  });
});
