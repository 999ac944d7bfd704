/** What parts must have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSameFound } from '../../src/join/joined-plan.js';

test('parts whose targets differ cannot run together, unless a target does not say what it is', () => {
  const own = { url: 'http://a', product: 'Vault', version: '1.21.0', proxy: null };
  for (const theirs of [own, { ...own, version: null }, { ...own, product: null, version: null }])
    checkSameFound(own, theirs, 'part 1 of 2');
  checkSameFound({ ...own, version: null }, own, 'part 1 of 2');
  for (const [theirs, differing] of /** @type {const} */ ([
    [{ ...own, version: '1.21.1' }, 'version ("1.21.0" and "1.21.1")'],
    [{ ...own, product: 'OpenBao', version: null }, 'product ("Vault" and "OpenBao")'],
    [{ ...own, url: 'http://b' }, 'url ("http://a" and "http://b")'],
    [{ ...own, proxy: '192.0.2.1:3128' }, 'proxy (null and "192.0.2.1:3128")'],
    [{}, 'url ("http://a" and null)'],
  ]))
    assert.throws(() => checkSameFound(own, theirs, 'part 1 of 2'), {
      code: 'different_targets',
      message: `Part 0 and part 1 of 2 found different targets: ${differing}. Nothing was sent.`,
    });
});
