/** The same seed asks for the same things at the same times, with one thread or two. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { createPlan } from '../../src/index.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { EC, measure } from '../cli/support.js';
import { startFaultProxy } from './support.js';

/** @import { SpawnedDevServer } from '../../src/dev/spawn.js' */

/** @type {SpawnedDevServer} */
let server;
before(async () => {
  server = await startDevServer({ caKeyType: 'ec' });
});
after(() => server.stop());

const NAMES = ['--cn', 'h-{n}.example.com', '--alt-names', '{random}.example.com'];

/** @param {{after: (fn: () => any) => void}} t @param {string[]} args */
async function spyOn(t, args) {
  const proxy = await startFaultProxy(server.url);
  t.after(proxy.close);
  const env = { VAULT_ADDR: proxy.url, VAULT_TOKEN: server.token };
  const result = await measure(args, { env });
  return { result, bodies: proxy.seen.map(({ path, body }) => `${path} ${body}`).sort() };
}

describe('shards', { concurrency: 2 }, () => {
  for (const arrivals of ['constant', 'poisson']) {
    test(`two together send the same requests as one, each once: ${arrivals} arrivals`, async (t) => {
      const load = ['--rate', '50/s', '--duration', '1.5s', '--warmup', '500ms', '--arrivals', arrivals];
      const args = ['issue', ...EC, ...NAMES, ...load, '--seed', '7', '--threads'];
      const [one, two] = await Promise.all([spyOn(t, [...args, '1']), spyOn(t, [...args, '2'])]);
      assert.deepEqual(two.bodies, one.bodies);
      assert.equal(new Set(one.bodies).size, one.bodies.length);
      assert.equal(two.result.totals.planned, one.result.totals.planned);
      assert.equal(two.result.totals.succeeded, one.result.totals.succeeded);
      assert.equal(two.result.load.threads, 2);

      const schedules = await Promise.all(
        ['1', '2'].map(async (threads) => {
          const options = { rate: '50/s', duration: '1.5s', warmup: '500ms', arrivals, seed: 7, threads };
          return createSchedule((await createPlan('issue', options)).load);
        }),
      );
      const due = schedules.map(({ count, dueMs }) => Array.from({ length: count }, (_, i) => dueMs(i)));
      assert.deepEqual(due[1], due[0]);
      const indexes = one.bodies.map((body) => Number(/h-(\d+)\./.exec(body)?.[1])).sort((a, b) => a - b);
      assert.deepEqual(indexes, [...due[0].keys()], 'every index of the schedule');
    });
  }

  test('a different seed requests different random names', async (t) => {
    const args = ['issue', ...EC, ...NAMES, '--requests', '5', '--rate', '50/s', '--seed'];
    const [one, other] = await Promise.all([spyOn(t, [...args, '7']), spyOn(t, [...args, '8'])]);
    assert.equal(one.bodies.length, 5);
    assert.equal(other.bodies.filter((body) => one.bodies.includes(body)).length, 0);
  });
});
