/** That garbage is gone when it has been collected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createCollector } from '../../src/live/garbage.js';

test('an array buffer that nothing holds is freed at once', async () => {
  const collect = createCollector();
  const freed = new WeakRef(new Float64Array(1e6));
  await turn();
  assert.notEqual(freed.deref(), undefined, 'V8 has no reason to collect it');
  await turn();
  collect();
  assert.equal(freed.deref(), undefined);
});
