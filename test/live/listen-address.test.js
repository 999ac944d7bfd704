import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { parseListenAddress } from '../../src/live/endpoints.js';

/** @type {[string, string, string, number][]} what, text, host, port */
const GOOD = [
  ['a port alone is of loopback', '9464', '127.0.0.1', 9464],
  ['with a colon in front too', ':9464', '127.0.0.1', 9464],
  ['an IPv4 address', '127.0.0.1:9464', '127.0.0.1', 9464],
  ['an IPv6 address, without its brackets', '[::1]:9464', '::1', 9464],
  ['an IPv6 address with a zone', '[fe80::1%eth0]:9464', 'fe80::1%eth0', 9464],
  ['a name', 'localhost:9464', 'localhost', 9464],
  ['a name with dots and dashes', 'load-1.example.com:80', 'load-1.example.com', 80],
  ['a name of one letter', 'a:80', 'a', 80],
  ['every address of this machine, when named', '0.0.0.0:9464', '0.0.0.0', 9464],
  ['the same of IPv6', '[::]:9464', '::', 9464],
  ['port 0', '127.0.0.1:0', '127.0.0.1', 0],
  ['port 0 alone', '0', '127.0.0.1', 0],
  ['the highest port', ':65535', '127.0.0.1', 65_535],
  ['spaces around it', ' 9464 ', '127.0.0.1', 9464],
];

/** @type {[string, string, RegExp][]} what, text, message */
const BAD = [
  ['nothing', '', /^--metrics is empty\.$/],
  ['spaces', '  ', /is empty/],
  ['a port that is too high', '65536', /whose port is above 65535/],
  ['a port that is far too high', '127.0.0.1:999999999999', /whose port is above 65535/],
  ['a negative port', '127.0.0.1:-1', /whose port is not a number/],
  ['a port with a fraction', 'localhost:94.64', /whose port is not a number/],
  ['a port in hexadecimal', 'localhost:0x24f8', /whose port is not a number/],
  ['no port after the colon', 'localhost:', /whose port is not a number/],
  ['an IPv4 address alone', '127.0.0.1', /which has no port/],
  ['a name alone', 'localhost', /which has no port/],
  ['an IPv6 address alone, in brackets', '[::1]', /which has no port/],
  ['an IPv6 address without brackets', '::1', /IPv6 address without brackets/],
  ['one that may end in a port', '::1:9464', /IPv6 address without brackets/],
  ['a name in brackets', '[localhost]:9464', /brackets hold no IPv6 address/],
  ['an IPv4 address in brackets', '[127.0.0.1]:9464', /brackets hold no IPv6 address/],
  ['several colons', 'a:b:9464', /an IPv6 address goes in brackets/],
  ['what only looks like an IPv4 address', '1.2.3:9464', /neither a name nor an IP address/],
  ['an IPv4 address that is none', '127.0.0.256:9464', /neither a name nor an IP address/],
  ['a name with a space', 'local host:9464', /neither a name nor an IP address/],
  ['a name with a dash at its end', 'host-:9464', /neither a name nor an IP address/],
  ['a URL', 'http://127.0.0.1:9464', /a URL or a path/],
  ['a path', '127.0.0.1:9464/metrics', /a URL or a path/],
  ['a control character, shown as JSON', 'a\u0007:1', /"a\\u0007:1"/],
];

describe('parseListenAddress', () => {
  for (const [what, text, host, port] of GOOD) {
    test(`takes ${what}: ${text}`, () => assert.deepEqual(parseListenAddress(text), { host, port }));
  }

  for (const [what, text, message] of BAD) {
    test(`refuses ${what}: ${JSON.stringify(text)}`, () => {
      assert.throws(
        () => parseListenAddress(text),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.equal(error.code, 'bad_listen_address');
          assert.equal(error.exitCode, 1);
          assert.match(error.message, message);
          assert.match(error.message, /^--metrics .*\.$/);
          assert.match(String(error.remedy), /127\.0\.0\.1:9464/);
          return true;
        },
      );
    });
  }

  test('names the option it was given for, and shows no more of a long text than its beginning', () => {
    assert.throws(
      () => parseListenAddress('x'.repeat(1000), '--listen'),
      (/** @type {Error} */ error) => {
        assert.match(error.message, /^--listen is "x{80}", which has no port\.$/);
        return true;
      },
    );
  });
});
