import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as open } from 'node:http';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { createMetricsServer, parseListenAddress } from '../../src/live/metrics-server.js';
import { render } from '../../src/report/data/prometheus.js';
import { sampleResult, spread } from '../result/sample.js';

/** @import { MetricsServer } from '../../src/live/metrics-server.js' */
/** @import { IncomingMessage } from 'node:http' */
/** @import { TestContext } from 'node:test' */

/** A server that does not close fails its test. */
const HANGS = { timeout: 120_000 };

/** @param {TestContext} t @param {number} [port] */
async function start(t, port = 0) {
  const server = await createMetricsServer({ host: '127.0.0.1', port });
  t.after(() => server.close());
  return server;
}

/** @param {MetricsServer} server */
function portOf({ address }) {
  return Number(address.split(':').at(-1));
}

/**
 * @param {MetricsServer} server
 * @param {string} [path]
 * @param {{method?: string, body?: string}} [options]
 */
async function ask({ address }, path = '/metrics', { method = 'GET', body } = {}) {
  const asking = open(`http://${address}${path}`, { method, agent: false });
  asking.end(body);
  const [message] = /** @type {[IncomingMessage]} */ (await once(asking, 'response'));
  let text = '';
  for await (const chunk of message.setEncoding('utf8')) text += chunk;
  return { status: message.statusCode, headers: message.headers, text };
}

/** A connection by hand, on which `text` is sent and then nothing. @param {TestContext} t @param {MetricsServer} server @param {string} text */
async function connection(t, server, text) {
  const socket = connect(portOf(server), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}

/** @param {number} count */
const result = (count) => sampleResult([{ outcome: 'good', service: spread(count, 1, 90), lag: 0.1 }]);

describe('responses', HANGS, () => {
  test('before the first result: no metrics, which is a valid exposition', async (t) => {
    const { status, headers, text } = await ask(await start(t));
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(text, '');
  });

  test('the newest result, as the reporter writes it', async (t) => {
    const server = await start(t);
    server.update(result(10));
    server.update(result(400));
    const first = await ask(server);
    assert.equal(first.text, render(result(400)));
    assert.equal((await ask(server)).text, first.text);
    server.update(result(500));
    assert.equal((await ask(server)).text, render(result(500)));
  });

  test('the text is rendered only on request, and once', async (t) => {
    const server = await start(t);
    let reads = 0;
    const watched = new Proxy(result(10), {
      get(target, key, receiver) {
        reads++;
        return Reflect.get(target, key, receiver);
      },
    });
    server.update(watched);
    assert.equal(reads, 0);
    const { text } = await ask(server);
    assert.ok(reads > 0);
    reads = 0;
    assert.equal((await ask(server)).text, text);
    assert.equal(reads, 0);
  });

  test('a result that cannot be rendered is an error only for its request', async (t) => {
    const server = await start(t);
    server.update(/** @type {any} */ ({}));
    assert.equal((await ask(server)).status, 500);
    server.update(result(10));
    assert.equal((await ask(server)).status, 200);
  });

  test('a HEAD request gets only the head', async (t) => {
    const server = await start(t);
    server.update(result(10));
    const { status, headers, text } = await ask(server, '/metrics', { method: 'HEAD' });
    assert.equal(status, 200);
    assert.equal(text, '');
    assert.equal(headers['content-length'], String(Buffer.byteLength(render(result(10)))));
  });

  test('a query is ignored', async (t) => {
    assert.equal((await ask(await start(t), '/metrics?format=prometheus')).status, 200);
  });
});

/** @type {[string, string, string, number][]} what, method, path, status */
const REFUSED = [
  ['the root', 'GET', '/', 404],
  ['another path', 'GET', '/v1/sys/metrics', 404],
  ['a path below', 'GET', '/metrics/', 404],
  ['a POST to another path', 'POST', '/', 404],
  ['a change', 'POST', '/metrics', 405],
  ['a removal', 'DELETE', '/metrics', 405],
];

describe('rejected requests', HANGS, () => {
  for (const [what, method, path, status] of REFUSED) {
    test(`${what}: ${method} ${path}`, async (t) => {
      const body = method === 'POST' ? 'x'.repeat(100_000) : undefined;
      const answer = await ask(await start(t), path, { method, body });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.allow, status === 405 ? 'GET, HEAD' : undefined);
      assert.match(answer.text, /\.\n$/);
    });
  }

  test('a connection without HTTP is closed, and others are still served', async (t) => {
    const server = await start(t);
    const socket = await connection(t, server, '\u0016\u0003\u0001 not HTTP\r\n\r\n');
    await once(socket.resume(), 'close');
    assert.equal((await ask(server)).status, 200);
  });
});

/** @type {[string, number][]} Host, status */
const HOSTS = [
  ['127.0.0.1:9464', 200],
  ['127.9.9.9', 200],
  ['localhost', 200],
  ['LocalHost:80', 200],
  ['[::1]:9464', 200],
  ['evil.example', 421],
  ['127.0.0.1.evil.example:9464', 421],
  ['localhost.evil.example', 421],
  ['10.0.0.1', 421],
  ['[::2]', 421],
  ['', 421],
];

describe('the Host of a request', HANGS, () => {
  for (const [host, status] of HOSTS) {
    test(`${host || 'empty'}: ${status}`, async (t) => {
      const server = await start(t);
      server.update(result(10));
      const socket = await connection(t, server, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const [chunk] = await once(socket, 'data');
      assert.match(String(chunk), new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.equal(String(chunk).includes('vault_pki_load_'), status === 200);
    });
  }

  test('is ignored when listening on all addresses', async (t) => {
    const server = await createMetricsServer({ host: '0.0.0.0', port: 0 });
    t.after(() => server.close());
    const socket = await connection(t, server, 'GET /metrics HTTP/1.1\r\nHost: load-1.example\r\n\r\n');
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 /);
  });
});

describe('limits', HANGS, () => {
  test('a head that is too large is rejected', async (t) => {
    const server = await start(t);
    const socket = await connection(t, server, `GET /metrics HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 431 /);
  });

  test('one request per connection: of pipelined ones, only the first is served', async (t) => {
    const server = await start(t);
    server.update(result(10));
    for (let i = 0; i < 40; i++) {
      const flood = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(i === 0 ? 1000 : 1);
      const socket = await connection(t, server, flood);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      await once(socket, 'close');
      assert.equal(text.split('HTTP/1.1 200 OK').length, 2);
      assert.match(text, /\r\nConnection: close\r\n/);
    }
  });

  test('a request with an unknown expectation closes its connection, too', async (t) => {
    const server = await start(t);
    server.update(result(10));
    const expecting = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nExpect: more\r\n\r\n';
    const socket = await connection(t, server, expecting.repeat(10));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await once(socket, 'close');
    assert.equal(text.split('HTTP/1.1 ').length, 2);
  });

  test('no more than 32 connections', async (t) => {
    const server = await start(t);
    const open = [];
    for (let i = 0; i < 32; i++) open.push(await connection(t, server, ''));
    const refused = await connection(t, server, '');
    await once(refused.resume(), 'close');
    const gone = once(open[0].resume(), 'close');
    open[0].end();
    await gone;
    assert.equal((await ask(server)).status, 200);
  });
});

/** @type {[string, string][]} what a scraper has sent when the server closes */
const SCRAPERS = [
  ['that only connected', ''],
  ['that stopped in the middle of its request', 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n'],
  ['that has its response', 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  [
    'that never sends the body it promised',
    'POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n',
  ],
];

describe('closing', HANGS, () => {
  for (const [what, text] of SCRAPERS) {
    test(`does not wait for a scraper ${what}`, async (t) => {
      const server = await start(t);
      const socket = await connection(t, server, text);
      if (text.startsWith('GET') && text.endsWith('\r\n\r\n')) await once(socket, 'data');
      const gone = once(socket.resume(), 'close');
      // The server has taken the connection when it has answered a later one.
      await ask(server);
      await server.close();
      await gone;
    });
  }

  test('does not wait for a scraper that does not read', async (t) => {
    const server = await start(t);
    server.update(result(400));
    const socket = await connection(t, server, '');
    socket.pause();
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200));
    await ask(server);
    await server.close();
  });

  test('frees the port, and may be repeated', async (t) => {
    const server = await start(t);
    await server.close();
    await server.close();
    await assert.rejects(ask(server), { code: 'ECONNREFUSED' });
    assert.equal((await start(t, portOf(server))).address, server.address);
  });
});

describe('listening', HANGS, () => {
  test('reports the actual port', async (t) => {
    assert.match((await start(t)).address, /^127\.0\.0\.1:[1-9]\d*$/);
  });

  test('rejects an address that this machine does not have', async () => {
    const { message } = await refusal(
      createMetricsServer({ host: '192.0.2.1', port: 0 }),
      'metrics_host_unknown',
    );
    assert.equal(message, '--metrics cannot listen on 192.0.2.1:0: this machine has no such address.');
  });

  test('rejects a port in use', async (t) => {
    const server = await start(t);
    const taken = createMetricsServer({ host: '127.0.0.1', port: portOf(server) });
    const { message } = await refusal(taken, 'metrics_port_in_use');
    assert.equal(message, `--metrics cannot listen on ${server.address}: the port is in use.`);
  });
});

/** @param {Promise<MetricsServer>} starting @param {string} code @returns {Promise<PkiLoadError>} */
async function refusal(starting, code) {
  const error = await starting.then(
    () => null,
    (reason) => reason,
  );
  assert.ok(error instanceof PkiLoadError, String(error));
  assert.equal(error.code, code);
  assert.equal(error.exitCode, 1);
  assert.ok(error.remedy);
  return error;
}

/** @type {[string, string, string, number][]} what, text, host, port */
const ADDRESSES = [
  ['a port alone means loopback', '9464', '127.0.0.1', 9464],
  ['with a colon in front too', ':9464', '127.0.0.1', 9464],
  ['an IPv4 address', '127.0.0.1:9464', '127.0.0.1', 9464],
  ['an IPv6 address, without its brackets', '[::1]:9464', '::1', 9464],
  ['an IPv6 address with a zone', '[fe80::1%eth0]:9464', 'fe80::1%eth0', 9464],
  ['a name', 'localhost:9464', 'localhost', 9464],
  ['a name with dots and dashes', 'load-1.example.com:80', 'load-1.example.com', 80],
  ['a name of one letter', 'a:80', 'a', 80],
  ['every address of this machine', '0.0.0.0:9464', '0.0.0.0', 9464],
  ['the same for IPv6', '[::]:9464', '::', 9464],
  ['port 0', '127.0.0.1:0', '127.0.0.1', 0],
  ['port 0 alone', '0', '127.0.0.1', 0],
  ['the highest port', ':65535', '127.0.0.1', 65_535],
  ['spaces around it', ' 9464 ', '127.0.0.1', 9464],
];

const NO_ADDRESSES = [
  ...['', '  ', '65536', '127.0.0.1:999999999999', '127.0.0.1:-1', 'localhost:94.64', 'localhost:0x24f8'],
  ...[
    'localhost:',
    '127.0.0.1',
    'localhost',
    '[::1]',
    '::1',
    '::1:9464',
    '[localhost]:9464',
    '[127.0.0.1]:9464',
  ],
  ...['a:b:9464', '1.2.3:9464', '127.0.0.256:9464', 'local host:9464', 'host-:9464', 'http://127.0.0.1:9464'],
  ...['127.0.0.1:9464/metrics', 'a\u0007:1', `${'x'.repeat(1000)}:`],
];

describe('parseListenAddress', () => {
  for (const [what, text, host, port] of ADDRESSES) {
    test(`accepts ${what}: ${text}`, () => assert.deepEqual(parseListenAddress(text), { host, port }));
  }

  for (const text of NO_ADDRESSES) {
    test(`rejects ${JSON.stringify(text.slice(0, 30))}`, () => {
      assert.throws(() => parseListenAddress(text), {
        code: 'bad_listen_address',
        exitCode: 1,
        message: `--metrics is ${JSON.stringify(text.slice(0, 80))}, which is not a port or an address with a port.`,
        remedy: 'Use 9464, 127.0.0.1:9464 or [::1]:9464.',
      });
    });
  }
});
