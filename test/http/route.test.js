import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConnectTo } from '../../src/common/options.js';
import { isExcluded, readProxies, routeOf } from '../../src/http/route.js';
import { readEnvironment } from '../../src/vault/environment.js';
import { describeProxy, readNetwork } from '../../src/vault/network.js';

const VAULT = 'https://vault.example.com:8200';

/** @param {Record<string, string>} env @param {string[]} [connectTo] */
function networkOf(env, connectTo) {
  const { proxySource } = readEnvironment(env, { home: '/nonexistent' });
  return readNetwork({ url: VAULT, connectTo, proxySource }, ['unix:///run/my vault%20'], env);
}

describe('NO_PROXY, as golang.org/x/net/http/httpproxy reads it', () => {
  /** @type {[noProxy: string, host: string, port: number, excluded: boolean][]} */
  const table = [
    ['', 'a.com', 443, false],
    ['*', 'a.com', 443, true],
    ['b.com, *', 'a.com', 443, true],
    ['*.com:443', 'a.com', 443, true],
    ['a.com', 'a.com', 443, true],
    ['A.com', 'a.com', 443, true],
    ['a.com', 'x.a.com', 443, true],
    ['a.com', 'xa.com', 443, false],
    ['.a.com', 'x.a.com', 443, true],
    ['.a.com', 'a.com', 443, false],
    ['*.a.com', 'x.a.com', 443, true],
    ['*.a.com', 'a.com', 443, false],
    ['a.com:8200', 'a.com', 8200, true],
    ['a.com:8200', 'a.com', 443, false],
    [' b.com ,, a.com ', 'a.com', 443, true],
    ['10.0.0.1', '10.0.0.1', 443, true],
    ['10.0.0.1:443', '10.0.0.1', 443, true],
    ['10.0.0.1:80', '10.0.0.1', 443, false],
    ['10.0.0.0/8', '10.200.1.1', 443, true],
    ['10.1.2.3/8', '10.200.1.1', 443, true],
    ['10.0.0.0/33', '10.0.0.0', 443, false],
    ['10.0.0.0/8', '11.0.0.1', 443, false],
    ['10.0.0.0/8', '10.example.com', 443, false],
    ['fd00::1', 'fd00::1', 443, true],
    ['fd00:0::1', 'fd00::1', 443, true],
    ['[fd00::1]:443', 'fd00::1', 443, true],
    ['[fd00::1]:80', 'fd00::1', 443, false],
    ['fd00::/16', 'fd00:1::1', 443, true],
    ['fd00::/16', 'fe00::1', 443, false],
    [':443', 'a.com', 443, false],
    ['[', 'a.com', 443, false],
  ];
  for (const [noProxy, host, port, excluded] of table) {
    test(`${JSON.stringify(noProxy)} ${excluded ? 'excludes' : 'does not exclude'} ${host}:${port}`, () =>
      assert.equal(isExcluded(host, port, noProxy), excluded));
  }
});

describe('the route', () => {
  const both = { HTTPS_PROXY: 'http://s.proxy:3128', HTTP_PROXY: 'h.proxy:3129' };
  const own = (/** @type {string} */ host, port = 8200) => ({ address: { host, port }, proxy: null });
  /** What it is for an origin with these variables: address, or proxy, variable and tunnel. @type {[string, string, Record<string, string>, string][]} */
  const table = [
    ['none', VAULT, {}, 'vault.example.com:8200'],
    ['its port is that of the scheme', 'https://a.com', {}, 'a.com:443'],
    ['by the scheme', VAULT, both, 's.proxy:3128 HTTPS_PROXY to vault.example.com:8200'],
    ['the other scheme', 'http://a.com', both, 'h.proxy:3129 HTTP_PROXY'],
    ['lower case', 'http://a.com', { http_proxy: 'http://p:1' }, 'p:1 http_proxy'],
    ['upper case first', 'http://a.com', { http_proxy: 'http://p:1', HTTP_PROXY: 'q:2' }, 'q:2 HTTP_PROXY'],
    ['an empty one is none', 'http://a.com', { HTTP_PROXY: '', http_proxy: 'p:1' }, 'p:1 http_proxy'],
    ["the proxy's port", 'http://a.com', { HTTP_PROXY: 'http://p' }, 'p:80 HTTP_PROXY'],
    ['an IPv6 proxy', 'http://a.com', { HTTP_PROXY: 'http://[fd00::1]:3128' }, '[fd00::1]:3128 HTTP_PROXY'],
    ['in a CGI script', 'http://a.com', { HTTP_PROXY: 'p:1', REQUEST_METHOD: 'GET' }, 'a.com:80'],
    ['NO_PROXY', VAULT, { ...both, NO_PROXY: 'example.com' }, 'vault.example.com:8200'],
    ['no_proxy', VAULT, { ...both, no_proxy: '.com:8200' }, 'vault.example.com:8200'],
    ['never for loopback', 'http://127.0.0.1:8200', both, '127.0.0.1:8200'],
    ['nor its name', 'http://localhost:8200', both, 'localhost:8200'],
    ['nor its IPv6', 'http://[::1]:8200', both, '[::1]:8200'],
    ['nor mapped to IPv6', 'http://[::ffff:127.0.0.1]:8200', both, '127.0.0.1:8200'],
    ['NO_PROXY, mapped', 'http://[::ffff:10.0.0.7]', { ...both, NO_PROXY: '10.0.0.0/8' }, '10.0.0.7:80'],
    ['an IPv6 server', 'https://[fd00::2]', both, 's.proxy:3128 HTTPS_PROXY to [fd00::2]:443'],
    [
      "Vault's own first",
      VAULT,
      { ...both, NO_PROXY: '*', VAULT_PROXY_ADDR: 'http://v.proxy:1' },
      'v.proxy:1 VAULT_PROXY_ADDR to vault.example.com:8200',
    ],
    [
      "OpenBao's before Vault's",
      VAULT,
      { VAULT_PROXY_ADDR: 'http://v.proxy:1', BAO_PROXY_ADDR: 'http://b.proxy:1' },
      'b.proxy:1 BAO_PROXY_ADDR to vault.example.com:8200',
    ],
    [
      'the older name',
      VAULT,
      { VAULT_HTTP_PROXY: 'http://v.proxy:1' },
      'v.proxy:1 VAULT_HTTP_PROXY to vault.example.com:8200',
    ],
    [
      'not for another server',
      'http://ocsp.com',
      { ...both, VAULT_PROXY_ADDR: 'v:1' },
      'h.proxy:3129 HTTP_PROXY',
    ],
    ['a Unix socket', 'unix:///run/my vault%20', { ...both, VAULT_PROXY_ADDR: 'v:1' }, '/run/my vault%20'],
  ];
  for (const [what, origin, env, expected] of table) {
    test(`${what}: ${origin}`, () => {
      const { address, proxy, tunnelTo } = routeOf(origin, networkOf(env));
      const { host, port, path } = /** @type {any} */ (address);
      const place = path ?? `${host.includes(':') ? `[${host}]` : host}:${port}`;
      if (proxy !== null) assert.equal(proxy.name, place);
      const words = [place, proxy?.source, tunnelTo && `to ${tunnelTo}`];
      assert.equal(words.filter(Boolean).join(' '), expected);
    });
  }

  test('without a network: direct', () => {
    assert.deepEqual(routeOf(VAULT), { ...own('vault.example.com'), tunnelTo: null });
  });

  test('a user name and password become a header, and are in nothing else', () => {
    const env = { HTTPS_PROXY: 'http://me:p%40ss@p:1' };
    const { proxy, ...rest } = routeOf(VAULT, networkOf(env));
    assert.equal(proxy?.authorization, `Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    assert.doesNotMatch(JSON.stringify([proxy.name, proxy.source, rest]), /p@ss|p%40ss/);
  });

  for (const [text, code] of [
    ['https://me:hunter2@p:1', 'proxy_unsupported'],
    ['socks5://me:hunter2@p:1', 'proxy_unsupported'],
    ['http://me:hunter2@', 'bad_proxy'],
    ['http://me:%hunter2@p', 'bad_proxy'],
    ['me:hunter2@p:port', 'bad_proxy'],
  ]) {
    test(`${text} is ${code}, and not quoted`, () => {
      const network = networkOf({ HTTPS_PROXY: text });
      assert.throws(
        () => routeOf(VAULT, network),
        (/** @type {any} */ error) => {
          assert.deepEqual([error.code, error.exitCode], [code, 1]);
          assert.match(`${error.message} ${error.remedy}`, /^(?!.*hunter2).*HTTPS_PROXY.*NO_PROXY/);
          return true;
        },
      );
      assert.equal(routeOf('http://a.com', network).proxy, null, 'only where it applies');
    });
  }

  test('readProxies reads nothing else', () => {
    assert.deepEqual(readProxies({ ALL_PROXY: 'p', VAULT_PROXY_ADDR: 'p' }), {
      ...{ httpProxy: null, httpsProxy: null, noProxy: '' },
    });
  });
});

describe('--connect-to, as in curl', () => {
  /** @type {[string[], string][]} */
  const table = [
    [['vault.example.com:8200:10.0.0.7:8300'], '10.0.0.7:8300'],
    [['VAULT.example.com:8200:Node.Example.com:8300'], 'node.example.com:8300'],
    [['vault.example.com:8201:10.0.0.7:8300'], 'vault.example.com:8200'],
    [['::10.0.0.7:'], '10.0.0.7:8200'],
    [[':8200::8300'], 'vault.example.com:8300'],
    [['vault.example.com::[fd00::7]:'], 'fd00::7:8200'],
    [['other::10.0.0.6:', '::10.0.0.7:', '::10.0.0.8:'], '10.0.0.7:8200'],
    [[':::'], 'vault.example.com:8200'],
  ];
  for (const [connectTo, expected] of table) {
    test(`${connectTo}: ${expected}`, () => {
      const { address } = routeOf(VAULT, networkOf({}, connectTo));
      assert.equal(`${address.host}:${/** @type {any} */ (address).port}`, expected);
    });
  }

  test('an IPv6 address is written in brackets', () => {
    const to = ['[fd00::1]:443:[fd00::2]:8443'];
    assert.deepEqual(routeOf('https://[fd00::1]', networkOf({}, to)).address, {
      host: 'fd00::2',
      port: 8443,
    });
  });

  for (const text of [
    '',
    'a:1',
    'a:1:b',
    'a:1:b:2:3',
    'a:x:b:2',
    'a:1:b:0',
    'a:1:b:65536',
    'fd00::1:1:b:2',
    'a b:::',
  ])
    test(`${JSON.stringify(text)} is rejected`, () => assert.equal(parseConnectTo(text), null));
});

describe('a proxy is named before the run, with a warning if it sees the token', () => {
  const env = { HTTP_PROXY: 'p:3128', HTTPS_PROXY: 'p:3128' };
  /** @type {[what: string, url: string, connectTo: string[], withToken: boolean, isWarning: boolean][]} */
  const table = [
    ['TLS through a tunnel', 'https://v.example:8200', [], true, false],
    ['plain HTTP', 'http://v.example:8200', [], true, true],
    ['plain HTTP without a token', 'http://v.example:8200', [], false, false],
    ['plain HTTP through a tunnel', 'http://v.example:8200', ['v.example::w.example:'], true, true],
  ];
  for (const [what, url, connectTo, withToken, isWarning] of table)
    test(what, () => {
      const found = describeProxy(url, networkOf(env, connectTo), withToken ? 'the token' : null);
      assert.equal(found?.isWarning, isWarning);
      assert.equal(/sees the token/.test(String(found?.text)), isWarning);
    });
});
