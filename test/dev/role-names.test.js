import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allowedNames } from '../../src/dev/roles.js';

/** As answered by Vault 1.21.1 for the role `example-dot-com`: name, allowed. */
const NAMES = /** @type {[string, boolean][]} */ ([
  ['localhost', true],
  ['localhost.localdomain', true],
  ['*.localhost', true],
  ['LOCALHOST', false],
  ['a.example.com', true],
  ['example.com', false],
  ['A.Example.COM', false],
  ['evil.com', false],
  ['a.example.com.', false],
  ['-a.example.com', false],
  ['bad name.example.com', false],
  ['.example.com', false],
  ['a..example.com', false],
  ['*.example.com', true],
  ['a*.example.com', true],
  ['a.*.example.com', false],
  ['*', false],
  ['ünï.example.com', true],
  ['127.0.0.1', false],
  ['foo@a.example.com', true],
  ['foo@example.com', false],
]);

const none = { dns: [], email: [] };

describe('names a role allows', () => {
  for (const [name, allowed] of NAMES) {
    it(`${JSON.stringify(name)} is ${allowed ? 'allowed' : 'refused'}`, () => {
      const call = () => allowedNames(name, none);
      if (allowed) assert.doesNotThrow(call);
      else assert.throws(call, { status: 400, message: `common name ${name} not allowed by this role` });
    });
  }

  it('a long Unicode name is refused before its conversion, which takes quadratic time', () => {
    const name = Array.from({ length: 100_000 }, (_, i) => String.fromCharCode(0x4e00 + (i % 20_000))).join(
      '',
    );
    const { user } = process.cpuUsage();
    assert.throws(() => allowedNames(`${name}.example.com`, none), { status: 400 });
    const ms = (process.cpuUsage().user - user) / 1000;
    assert.ok(ms < 1000, `${ms} ms; quadratic time takes 4 s`);
  });

  it('the common name joins the alternative names, sorted, once, as A-label', () => {
    const altNames = { ...none, dns: ['localhost', 'c.example.com', 'c.example.com'] };
    const names = allowedNames('ünï.example.com', altNames);
    assert.deepEqual(names.dns, ['c.example.com', 'localhost', 'xn--n-nga1b.example.com']);
  });
});
