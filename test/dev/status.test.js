import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it, mock } from 'node:test';
import { createAuthorities } from '../../src/dev/certificate.js';
import { createResponder, Store } from '../../src/dev/status.js';
import { openssl, scratch } from './support.js';

const file = scratch({ after });

describe('responder', () => {
  it('repeats the same bytes without a nonce, until a revocation or the next second', async () => {
    const { intermediate } = await createAuthorities('ec');
    const store = new Store();
    const respond = createResponder(intermediate, store);
    const id = store.add(Buffer.from([0x12, 0x34]), Buffer.alloc(0));
    const ask = (/** @type {string[]} */ ...args) => {
      const out = file('request.der', '');
      openssl(
        'ocsp',
        '-issuer',
        file('ca.pem', intermediate.pem),
        '-serial',
        '0x1234',
        ...args,
        '-reqout',
        out,
      );
      return readFileSync(out);
    };
    const [plain, withNonce] = [ask('-no_nonce'), ask()];
    mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 });
    try {
      const first = await respond(plain);
      assert.deepEqual(await respond(plain), first);
      assert.notDeepEqual(await respond(withNonce), await respond(withNonce));
      store.revoke(id);
      const revoked = await respond(plain);
      assert.notDeepEqual(revoked, first);
      assert.deepEqual(await respond(plain), revoked);
      mock.timers.tick(1000);
      assert.notDeepEqual(await respond(plain), revoked);
    } finally {
      mock.timers.reset();
    }
  });
});
