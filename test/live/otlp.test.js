import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { targetError } from '../../src/common/errors.js';
import { TOOL_VERSION } from '../../src/common/version.js';
import { createOtlpPusher } from '../../src/live/otlp.js';
import { otlpFaults } from './otlp-proto.js';
import { createReceiver, createTime, numberOf, result, START_MS, settle } from './otlp-receiver.js';

/** @import { Reply } from './otlp-receiver.js' */
/** @import { IncomingHttpHeaders, Server } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

const URL_SHOWN = 'http://127.0.0.1:4318/v1/metrics';
const REFUSED = targetError('connection_refused', 'http://127.0.0.1:4318 refused the connection.');

const INTERNAL = 'The metrics were not sent because of an internal error. Please report this bug.';
const NOT_TAKEN = `${URL_SHOWN} did not accept the metrics:`;
const LOST = `The last metrics of a run were not delivered to ${URL_SHOWN}.`;

/** @param {number} status @param {number | string} value */
const retryAfter = (status, value) => ({ status, headers: { 'retry-after': String(value) } });

/** @param {number | string} [rejectedDataPoints] @param {string} [errorMessage] */
const partial = (rejectedDataPoints, errorMessage) => ({
  status: 200,
  body: { partialSuccess: { rejectedDataPoints, errorMessage } },
});

/** @param {Reply[]} replies @param {Record<string, string>} [headers] */
function start(replies, headers = {}) {
  const time = createTime();
  const receiver = createReceiver(...replies);
  /** @type {string[]} */
  const warnings = [];
  const pusher = createOtlpPusher({
    url: 'http://127.0.0.1:4318',
    headers,
    onWarning: (text) => warnings.push(text),
    requester: receiver,
    now: time.now,
    clock: time.clock,
    wait: (ms, signal) => time.wait(ms, signal),
  });
  /** Results every two seconds, as in a run; the number of each is when it came. @param {number} seconds */
  async function run(seconds) {
    for (let passed = 0; passed < seconds; passed += 2) {
      pusher.update(result(time.clock()));
      await settle();
      await time.pass(2000);
    }
  }
  return { time, receiver, warnings, pusher, run, sent: () => receiver.asked.map(numberOf) };
}

test('a proxy on the way is named, with a warning if it sees the headers', (t) => {
  t.after(() => {
    delete process.env.http_proxy;
  });
  process.env.http_proxy = 'http://proxy.example:3128';
  const through = 'Requests to http://otel.example:4318 go through the proxy proxy.example:3128 (http_proxy)';
  const warningsWith = (/** @type {Record<string, string>} */ headers, url = 'http://otel.example:4318') => {
    /** @type {string[]} */
    const warnings = [];
    const say = (/** @type {string} */ kind) => (/** @type {string} */ text) =>
      warnings.push(`${kind}: ${text}`);
    const [onWarning, onNotice] = [say('warning'), say('notice')];
    createOtlpPusher({ url, headers, onWarning, onNotice, requester: createReceiver() });
    return warnings;
  };
  assert.deepEqual(warningsWith({}), [`notice: ${through}.`]);
  assert.deepEqual(warningsWith({}, 'http://otel.example:4318/v1/metrics?key=secret'), [
    `warning: ${through}, which sees the query of --otlp: use https://.`,
  ]);
  assert.deepEqual(warningsWith({ authorization: 'a secret' }), [
    `warning: ${through}, which sees OTEL_EXPORTER_OTLP_HEADERS: use https://.`,
  ]);
  assert.deepEqual(warningsWith({ authorization: 'a secret' }, 'http://127.0.0.1:4318'), []);
});

describe('pushes', () => {
  test('are sent every ten seconds with the newest result', async () => {
    const { run, sent, warnings } = start([]);
    await run(32);
    assert.deepEqual(sent(), [0, 10_000, 20_000, 30_000]);
    assert.deepEqual(warnings, []);
  });

  test('are sent one at a time, and the newest result follows a slow one', async () => {
    const { run, sent, receiver } = start(['held']);
    await run(26);
    assert.deepEqual(sent(), [0]);
    await receiver.release();
    await run(4);
    assert.deepEqual(sent(), [0, 26_000]);
  });

  test('contain the time of sending', async () => {
    const { run, receiver } = start([]);
    await run(12);
    const [, second] = receiver.asked.map(({ body }) => String(body));
    assert.match(second, new RegExp(`"timeUnixNano":"${START_MS + 10_000}000000"`));
  });
});

/** @type {[string, Reply[], number, number[]][]} what, replies, seconds, when pushes go out (ms) */
const PACE = [
  ['waits for Retry-After in seconds', [retryAfter(429, 30)], 42, [0, 30_000, 40_000]],
  ['a short Retry-After does not speed up pushes', [retryAfter(503, 1)], 12, [0, 10_000]],
  ['an invalid Retry-After is ignored', [retryAfter(503, 'soon')], 12, [0, 10_000]],
  ['without Retry-After, the next push is on schedule', [503, REFUSED, 200], 32, [0, 10_000, 20_000, 30_000]],
  ['a refused push does not delay the next', [400, 413, 200], 22, [0, 10_000, 20_000]],
  ['Retry-After counts only with a retryable status', [retryAfter(400, 60)], 12, [0, 10_000]],
];

describe('pacing', () => {
  for (const [what, replies, seconds, expected] of PACE) {
    test(what, async () => {
      const { run, sent } = start(replies);
      await run(seconds);
      assert.deepEqual(sent(), expected);
    });
  }
});

/** @type {[string, Reply[], (string | RegExp)[]][]} what, replies, what is told */
const WARNINGS = [
  ['full success', [200, { status: 200, body: '' }, partial()], []],
  ['success with another status', [202, 204], []],
  ...[
    '{"partialSuccess":{"rejectedDataPoints":1e999}}',
    `{"partialSuccess":{"rejectedDataPoints":${'['.repeat(900)}7${']'.repeat(900)}}}`,
  ].map((body) => /** @type {[string, Reply[], string[]]} */ (['no number', [{ status: 200, body }], []])),
  [
    'a partial success, with the number as a string, as in protobuf JSON',
    [partial('3', 'too old.')],
    [`${URL_SHOWN} rejected 3 data points: too old.`],
  ],
  ['a partial success without a reason', [partial(1)], [`${URL_SHOWN} rejected 1 data point.`]],
  ['a warning', [partial('0', 'no unit')], [`${URL_SHOWN} accepted the metrics with a warning: no unit.`]],
  [
    'each kind, once',
    [401, 401, 404, 401, { status: 400, body: { message: 'bad\n\u001b[31mdata' } }],
    [
      `${NOT_TAKEN} HTTP 401. Check OTEL_EXPORTER_OTLP_HEADERS.`,
      `${NOT_TAKEN} HTTP 404. Check the path in --otlp; it is usually /v1/metrics.`,
      `${NOT_TAKEN} HTTP 400: bad \\u{1b}[31mdata.`,
    ],
  ],
  ['a response that is not JSON', [{ status: 500, body: '<html>' }], [`${NOT_TAKEN} HTTP 500.`]],
  [
    'a response with unexpected JSON',
    [
      { status: 500, body: 'null' },
      { status: 200, body: '[1]' },
    ],
    [/HTTP 500\.$/],
  ],
  [
    'a redirect, which is not followed',
    [{ status: 307, headers: { location: 'http://elsewhere' } }],
    [/HTTP 307\.$/],
  ],
  [
    'a dead receiver, once',
    [REFUSED, REFUSED],
    [
      'The metrics were not sent: http://127.0.0.1:4318 refused the connection. Start the receiver, or correct --otlp.',
    ],
  ],
  [
    'an internal error, without its message',
    [new TypeError('Invalid value "Bearer abcdefgh" for header')],
    [INTERNAL],
  ],
];

describe('warnings', () => {
  for (const [what, replies, expected] of WARNINGS) {
    test(what, async () => {
      const { run, warnings } = start([...replies]);
      await run(150);
      assert.equal(warnings.length, expected.length, warnings.join('\n'));
      for (const [i, one] of expected.entries()) {
        if (typeof one === 'string') assert.equal(warnings[i], one);
        else assert.match(warnings[i], one);
      }
    });
  }

  test('a result that cannot be encoded', async () => {
    const { pusher, receiver, warnings } = start([]);
    pusher.update(/** @type {any} */ ({}));
    await settle();
    assert.deepEqual(receiver.asked, []);
    assert.deepEqual(warnings, [INTERNAL]);
  });

  test("omit the receiver's text if the URL has a query, which may be a key", async () => {
    /** @type {string[]} */
    const warnings = [];
    const pusher = createOtlpPusher({
      url: 'http://127.0.0.1:4318/?key=s3cr3t',
      headers: {},
      onWarning: (text) => warnings.push(text),
      requester: createReceiver({ status: 400, body: { message: 'bad key s3cr3t' } }),
    });
    pusher.update(result(1));
    await settle();
    assert.deepEqual(warnings, ['http://127.0.0.1:4318/v1/metrics did not accept the metrics: HTTP 400.']);
  });

  /** @type {[string, string][]} what a receiver says */
  const ECHOES = [
    ['the header', 'bad header: Bearer s3cr3t'],
    ['the token alone', 'unknown token s3cr3t'],
    ['in capital letters', 'unknown token S3CR3T'],
    ['a password of Basic', 'no user me with hunter2'],
    ['a short one', 'tenant 7 is unknown'],
  ];
  for (const [what, said] of ECHOES) {
    test(`never contain a secret that the receiver repeats: ${what}`, async () => {
      const basic = Buffer.from('me:hunter2').toString('base64');
      const headers = { authorization: 'Bearer s3cr3t', 'x-other': `Basic ${basic}`, 'x-tenant': '7' };
      const replies = [{ status: 403, body: { message: said } }, partial('2', said)];
      const { run, warnings } = start(replies, headers);
      await run(12);
      assert.deepEqual(warnings, [
        `${NOT_TAKEN} HTTP 403. Check OTEL_EXPORTER_OTLP_HEADERS.`,
        `${URL_SHOWN} rejected 2 data points.`,
      ]);
    });
  }
});

/** @type {[string, Reply[], number[], number, string[]][]} what, replies to the last push, waits (ms), tries, what is told of the end */
const ENDS = [
  ['a successful push is the only one', [200], [], 1, []],
  ['a partially accepted push is not retried', [partial(1)], [], 1, []],
  ['a retryable refusal is retried', [503, 200], [1000], 2, []],
  ['a push without a response is retried', [REFUSED, REFUSED, 200], [1000, 1000], 3, []],
  ['a retryable refusal is retried only twice', [503, 503, 503], [1000, 1000], 3, [LOST]],
  ['a permanent refusal is not retried', [400], [], 1, [LOST]],
  ['waits for Retry-After', [retryAfter(429, 4), 200], [4000], 2, []],
  ['a long Retry-After is not waited for', [retryAfter(429, 60)], [], 1, [LOST]],
];

describe('the last push', () => {
  for (const [what, replies, waits, tries, told] of ENDS) {
    test(what, async () => {
      const { time, pusher, receiver, warnings, sent } = start([...replies]);
      const closed = pusher.finish(result(7));
      for (let i = 0; i < 4; i++) {
        await settle();
        await time.pass(time.waits.slice(1)[i] ?? 0);
      }
      await closed;
      // The first wait is the limit of all of it.
      assert.deepEqual(time.waits.slice(1), waits);
      assert.deepEqual(sent(), new Array(tries).fill(7));
      await pusher.close();
      assert.equal(receiver.closed, 1);
      assert.deepEqual(
        warnings.filter((text) => text.startsWith('The last')),
        told,
      );
    });
  }

  test('waits for the push under way, then sends the last result', async () => {
    const { pusher, receiver, sent } = start(['held']);
    pusher.update(result(1));
    pusher.update(result(2));
    let over = false;
    const closed = pusher.finish(result(3)).then(() => {
      over = true;
    });
    await settle();
    assert.deepEqual([sent(), over], [[1], false]);
    await receiver.release();
    await closed;
    assert.deepEqual(sent(), [1, 3]);
  });

  for (const [what, number] of /** @type {const} */ ([
    ['the push before it', 1],
    ['the last push', 2],
  ])) {
    test(`gives up if ${what} gets no response`, async () => {
      const { time, pusher, receiver, warnings, sent } = start(['held']);
      if (number === 1) pusher.update(result(1));
      let isOver = false;
      const finished = pusher.finish(result(2)).then(() => {
        isOver = true;
      });
      await settle();
      await time.pass(9_999);
      assert.equal(isOver, false);
      await time.pass(1);
      await finished;
      await pusher.close();
      await receiver.release();
      assert.deepEqual([sent(), receiver.closed, warnings], [[number], 1, [LOST]]);
    });
  }

  test("respects the receiver's earlier Retry-After", async () => {
    const { time, pusher, warnings, sent } = start([retryAfter(429, 12)]);
    pusher.update(result(1));
    await settle();
    await time.pass(4000);
    const closed = pusher.finish(result(2));
    await settle();
    assert.deepEqual([sent(), time.waits.slice(1)], [[1], [8000]]);
    await time.pass(8000);
    await closed;
    assert.deepEqual(sent(), [1, 2]);
    assert.match(warnings.join('\n'), /^\S+ did not accept the metrics: HTTP 429\.$/);
  });

  test('sends nothing if Retry-After is too long', async () => {
    const { pusher, warnings, sent } = start([retryAfter(429, 120)]);
    pusher.update(result(1));
    await settle();
    await pusher.finish(result(2));
    assert.deepEqual(sent(), [1]);
    assert.equal(warnings.at(-1), LOST);
  });
});

describe('the last push of a run followed by others', () => {
  test('is sent even right after another push', async () => {
    const { run, pusher, sent, warnings, time } = start([]);
    for (const number of [1, 2, 3]) {
      await run(4);
      await time.pass(1000);
      const last = result(number);
      await pusher.finish(last);
    }

    assert.deepEqual(sent(), [0, 1, 2, 3]);
    assert.deepEqual(warnings, []);
  });

  test('waits for the push under way, then is sent', async () => {
    const { pusher, receiver, sent } = start(['held']);
    pusher.update(result(1));
    const finished = pusher.finish(result(2));
    await settle();
    assert.deepEqual(sent(), [1]);
    await receiver.release();
    await finished;
    assert.deepEqual(sent(), [1, 2]);
  });

  test('is retried for a while, then the next run starts, with one warning', async () => {
    const { time, pusher, sent, warnings } = start(new Array(6).fill(503));
    for (const number of [1, 2]) {
      const finished = pusher.finish(result(number));
      for (const ms of [0, 1000, 1000]) await time.pass(ms);
      await finished;
    }
    assert.deepEqual(sent(), [1, 1, 1, 2, 2, 2]);
    assert.deepEqual(
      warnings.filter((text) => text.startsWith('The last')),
      [LOST],
    );
  });
});

/** @param {Server} server */
async function portOf(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return /** @type {AddressInfo} */ (server.address()).port;
}

describe('on the wire', { timeout: 120_000 }, () => {
  test('a receiver gets complete requests, valid in the protobuf-JSON mapping, as JSON, with the configured headers and our user agent', async (t) => {
    /** @type {{method?: string, url?: string, headers: IncomingHttpHeaders, body: string}[]} */
    const seen = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.setHeader('content-type', 'application/json').end('{}');
    });
    t.after(() => server.close());
    const port = await portOf(server);
    /** @type {string[]} */
    const warnings = [];
    const pusher = createOtlpPusher({
      url: `http://127.0.0.1:${port}/otlp/v1/metrics`,
      headers: { authorization: 'Bearer abc', 'content-type': 'text/plain' },
      onWarning: (text) => warnings.push(text),
    });
    pusher.update(result(1));
    await pusher.finish(result(2));
    await pusher.close();
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      seen.map(({ body }) => numberOf({ path: '', body })),
      [1, 2],
    );
    for (const { method, url, headers, body } of seen) {
      assert.equal(method, 'POST');
      assert.equal(url, '/otlp/v1/metrics');
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(headers.authorization, 'Bearer abc');
      assert.equal(headers['user-agent'], `vault-pki-load/${TOOL_VERSION}`);
      assert.equal(headers['content-length'], String(Buffer.byteLength(body)));
      assert.deepEqual(otlpFaults(JSON.parse(body)), []);
    }
  });

  test('if nothing is listening, the run gets a warning and continues', async () => {
    const server = createServer();
    const port = await portOf(server);
    server.close();
    await once(server, 'close');
    const time = createTime();
    /** @type {string[]} */
    const warnings = [];
    const url = `http://127.0.0.1:${port}`;
    const pusher = createOtlpPusher({
      url,
      headers: {},
      onWarning: (text) => warnings.push(text),
      wait: (ms, signal) => (ms < 10_000 ? Promise.resolve() : time.wait(ms, signal)),
    });
    await pusher.finish(result(1));
    assert.deepEqual(warnings, [
      `The metrics were not sent: ${url} refused the connection: nothing is listening there. Start the receiver, or correct --otlp.`,
      `The last metrics of a run were not delivered to ${url}/v1/metrics.`,
    ]);
  });

  test('a wrong URL or header is reported at once', () => {
    const onWarning = () => assert.fail('that is an error');
    assert.throws(() => createOtlpPusher({ url: '127.0.0.1:4318', headers: {}, onWarning }), {
      code: 'bad_url',
    });
  });
});
