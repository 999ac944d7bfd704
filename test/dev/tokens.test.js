import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createTokens } from '../../src/dev/routes-system.js';

describe('tokens', () => {
  it('expire, live longer when renewed, and cannot be renewed in time once expired', () => {
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    try {
      const tokens = createTokens({ ttlSeconds: 10 });
      mock.timers.tick(9_999);
      assert.doesNotThrow(() => tokens.check(tokens.token));
      assert.equal(tokens.lookup().ttl, 0);
      tokens.renew(0);
      assert.equal(tokens.lookup().ttl, 10);
      mock.timers.tick(9_999);
      assert.doesNotThrow(() => tokens.check(tokens.token));
      mock.timers.tick(1);
      assert.throws(() => tokens.check(tokens.token), { status: 403 });
    } finally {
      mock.timers.reset();
    }
  });

  it('are random and recognisable unless given; a root token never expires', () => {
    const [one, two] = [createTokens({}), createTokens({})];
    assert.match(one.token, /^dev-only-token-[0-9a-f]{24}$/);
    assert.notEqual(one.token, two.token);
    const { ttl, expire_time, renewable } = one.lookup();
    assert.deepEqual({ ttl, expire_time, renewable }, { ttl: 0, expire_time: null, renewable: false });
    assert.throws(() => one.check(''), { status: 403, message: 'permission denied' });
  });
});
