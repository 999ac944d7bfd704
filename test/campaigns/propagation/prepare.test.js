import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDevServer } from '../../../src/dev/server.js';
import { measureBehind } from './front.js';

/** @import { DevServer } from '../../../src/dev/server.js' */

/** @type {DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());

test('identifies a performance standby at --url', async () => {
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
  const told = found?.nodes.map(({ version, state }) => [version, state]);
  assert.deepEqual(told, [['1.21.1+ent', 'performance standby']]);
});

test('rejects a token that may issue but not revoke, before issuing', async () => {
  const { error, asked } = await measureBehind(server, (path, data) => {
    if (path !== 'sys/capabilities-self') return null;
    const [about] = JSON.parse(data).paths;
    return { json: { data: { [about]: [about === 'pki_int/revoke' ? 'deny' : 'update'] } } };
  });
  assert.equal(error?.exitCode, 2);
  assert.match(
    String(error?.full),
    /may not write to pki_int\/revoke\. Use a token whose policy has: path "/,
  );
  const told = asked.filter((path) => /^pki_int\/(?:issue\/|revoke)/.test(path));
  assert.deepEqual(told, []);
});

const REVOKE_DENIED = /may not write to pki_int\/revoke\. The certificate .* stays valid until/;

/** @type {[string, string, RegExp, string?][]} what, the path, message, a path that answers with an error */
const DENIED = [
  ['issue', 'pki_int/issue/example-dot-com-ec', /may not write to pki_int\/issue\/example-dot-com-ec\. /],
  ['revoke', 'pki_int/revoke', REVOKE_DENIED],
  ['revoke, if no node reports good', 'pki_int/revoke', REVOKE_DENIED, 'pki_int/ocsp'],
];
for (const [verb, denied, message, broken] of DENIED) {
  test(`the warm-up detects a token that may neither read its capabilities nor ${verb}`, async () => {
    const { error, asked } = await measureBehind(
      server,
      (path) => {
        if (path === broken) return { status: 503, json: {} };
        return path === 'sys/capabilities-self' || path === denied
          ? { status: 403, json: { errors: ['1 error occurred:\n\t* permission denied\n\n'] } }
          : null;
      },
      { certificates: 10 },
    );
    assert.equal(error?.exitCode, 2);
    assert.match(String(error?.full), message);
    assert.equal(asked.filter((path) => path.startsWith('pki_int/issue/')).length, 1);
  });
}
