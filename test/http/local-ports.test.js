import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { checkLocalAddresses, describePortShortage } from '../../src/http/local-ports.js';

const LOAD = { perSecond: 1000, seconds: 3600, host: '192.0.2.1', addresses: /** @type {string[]} */ ([]) };
const SETTINGS = { ip_local_port_range: '32768\t60999\n', tcp_tw_reuse: '2\n' };
const THREE = ['192.0.2.7', '192.0.2.8', '192.0.2.9'];

/** @type {[string, Partial<typeof LOAD>, Partial<typeof SETTINGS>, RegExp | null][]} */
const TABLE = [
  [
    '1,000/s for an hour',
    {},
    {},
    /need 60,000 at a time, but an address has 28,232 .*for 60 s .*at most 470 connections\/s.*3 addresses/,
  ],
  ['the most that fits', { perSecond: 470 }, {}, null],
  ['a little more', { perSecond: 471 }, {}, /need 28,260/],
  ['28 s, which is over before the ports are', { seconds: 28 }, {}, null],
  ['29 s', { seconds: 29 }, {}, /need 29,000/],
  ['three addresses', { addresses: THREE }, {}, null],
  [
    'two addresses',
    { addresses: THREE.slice(1) },
    {},
    /but 2 addresses have 56,464 .*at most 941 conn.*give 3 addresses/,
  ],
  ['a wider range', {}, { ip_local_port_range: '1024 65535' }, null],
  ['loopback, where Linux reuses a port after a second', { host: '127.0.0.1' }, {}, null],
  ['loopback, faster than that', { host: '::1', perSecond: 30_000 }, {}, /for 1 s .*at most 28,232 conn/],
  ['loopback without reuse', { host: '127.0.0.1' }, { tcp_tw_reuse: '0' }, /for 60 s/],
  ['loopback from an address of its own', { host: '127.0.0.1', addresses: ['127.0.0.2'] }, {}, /for 60 s/],
  ['reuse for all targets', {}, { tcp_tw_reuse: '1' }, null],
  ['a system without these settings', {}, { ip_local_port_range: '', tcp_tw_reuse: '' }, null],
];
for (const [what, load, settings, expected] of TABLE) {
  test(`a warning before local ports run out: ${what}`, () => {
    const all = /** @type {Record<string, string>} */ ({ ...SETTINGS, ...settings });
    const text = describePortShortage({ ...LOAD, ...load }, (name) => all[name]);
    if (expected === null) assert.equal(text, null);
    else assert.match(String(text), expected);
  });
}

const DUAL = ['::1', '127.0.0.1'];

/** @type {[string, string[], string[], RegExp | null][]} */
const LOCAL = [
  ['of the first family of a name', ['::1'], DUAL, null],
  ['of its second family', ['127.0.0.1'], DUAL, null],
  ['of both', ['127.0.0.1', '::1'], DUAL, null],
  [
    'of a family that the name lacks',
    ['::1'],
    ['127.0.0.1'],
    /"::1" is IPv6, but .* "vault\.example" has no IPv6/,
  ],
  [
    'of both, for a name with one',
    ['::1', '127.0.0.1'],
    ['::1'],
    /"127\.0\.0\.1" is IPv4, but .* has no IPv4/,
  ],
  [
    'without a way to the target',
    ['127.0.0.1'],
    ['192.0.2.1'],
    /from --local-address "127\.0\.0\.1" to "vault\.example"/,
  ],
  ['of another machine', ['127.0.0.1', '192.0.2.1'], ['127.0.0.1'], /from --local-address "192\.0\.2\.1"/],
  ['of another machine, for an unknown name', ['192.0.2.1'], [], /from --local-address "192\.0\.2\.1"/],
  ['of this machine, for an unknown name', ['127.0.0.1'], [], null],
];
for (const [what, addresses, targets, message] of LOCAL) {
  test(`a local address is checked: one ${what}`, async (t) => {
    const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
      list?.some((one) => one.address === '::1'),
    );
    if (!hasIpv6 && message === null && addresses.includes('::1')) return t.skip('no IPv6');
    const lookUp = async () => targets.map((address) => ({ address }));
    const checked = checkLocalAddresses(addresses, 'vault.example', lookUp);
    if (message === null) await checked;
    else await assert.rejects(checked, { code: 'local_address_unusable', message });
  });
}

test('a local address is checked against the address of a target without a name', async () => {
  await checkLocalAddresses(['127.0.0.1'], '127.0.0.1');
  const message = /"::1" is IPv6, but the target "127\.0\.0\.1" has no IPv6/;
  await assert.rejects(checkLocalAddresses(['::1'], '127.0.0.1'), {
    code: 'local_address_unusable',
    message,
  });
});
