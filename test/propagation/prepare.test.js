import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { measureBehind } from './front.js';

/** @type {import('../../src/dev/server.js').DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());

test('a performance standby at --url is called one', async () => {
  const { found, error } = await measureBehind(server, (path) =>
    path === 'sys/health'
      ? {
          status: 473,
          json: {
            initialized: true,
            sealed: false,
            standby: true,
            performance_standby: true,
            version: '1.21.1+ent',
            enterprise: true,
          },
        }
      : null,
  );
  assert.equal(error, null);
  assert.deepEqual(
    found?.nodes.map(({ version, state }) => [version, state]),
    [['1.21.1+ent', 'performance standby']],
  );
});
