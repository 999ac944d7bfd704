/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Socket } from 'node:net' */

/**
 * What a target can do wrong, by name. Each takes one request whose head has been read, and what is needed to answer it.
 *
 * @typedef {object} Settings
 * @property {number} delayMs
 * @property {number} periodMs a freeze begins every so often, the first at `periodMs - freezeMs` after the start
 * @property {number} freezeMs
 * @property {number} status
 * @property {string} contentType
 * @property {string} body base64
 * @property {number} bytes of the large answer
 * @property {string} location where `redirect-elsewhere` points
 */
/**
 * @typedef {object} Context
 * @property {IncomingMessage} req
 * @property {ServerResponse} res
 * @property {Socket} socket
 * @property {Settings} settings
 * @property {() => number} elapsedMs since the target started, on a monotonic clock
 */

/** @type {Settings} */
export const DEFAULTS = {
  delayMs: 100,
  periodMs: 5000,
  freezeMs: 1000,
  status: 200,
  contentType: 'application/json',
  body: Buffer.from('{"data":{}}').toString('base64'),
  bytes: 1024 * 1024,
  location: 'http://127.0.0.1:1/',
};

/** @param {Context} context */
function answer({ res, settings }) {
  const body = Buffer.from(settings.body, 'base64');
  res.writeHead(settings.status, { 'content-type': settings.contentType, 'content-length': body.length });
  res.end(body);
}

/** @param {Context} context @param {string} text */
function raw({ socket }, text) {
  socket.write(text, 'latin1');
}

/** @param {Context} context @param {string} text written before the connection is closed */
function rawAndClose({ socket }, text) {
  if (text === '') socket.destroy();
  else socket.end(text, 'latin1');
}

/** A timer can fire early: the clock is read again. @param {Context} context @param {number} untilMs */
function answerAt(context, untilMs) {
  const leftMs = untilMs - context.elapsedMs();
  if (leftMs <= 0) answer(context);
  else setTimeout(() => answerAt(context, untilMs), Math.ceil(leftMs));
}

/**
 * The phase of the schedule at a time: 0..periodMs; frozen in the last `freezeMs` of it.
 *
 * @param {number} elapsedMs
 * @param {Pick<Settings, 'periodMs' | 'freezeMs'>} settings
 * @returns {number | null} when it thaws; null: not frozen
 */
export function thawsAtMs(elapsedMs, { periodMs, freezeMs }) {
  const phase = elapsedMs % periodMs;
  return phase >= periodMs - freezeMs ? elapsedMs - phase + periodMs : null;
}

/** @type {Record<string, (context: Context) => void>} */
export const BEHAVIOURS = {
  ok: answer,
  /** Requests that arrive in a freeze are all answered when it thaws. */
  freeze(context) {
    const thaw = thawsAtMs(context.elapsedMs(), context.settings);
    if (thaw === null) answer(context);
    else answerAt(context, thaw);
  },
  delay: (context) => answerAt(context, context.elapsedMs() + context.settings.delayMs),
  silent() {},
  'error-in-200'({ res }) {
    const body = JSON.stringify({ errors: ['1 error occurred:\n\t* permission denied\n\n'] });
    res.writeHead(200, { 'content-type': 'application/json' }).end(body);
  },
  'not-json'({ res }) {
    res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>It works!</title>');
  },
  'empty-body'({ res }) {
    res.writeHead(200, { 'content-length': 0 }).end();
  },
  'error-500'({ res }) {
    res.writeHead(500, { 'content-type': 'application/json' }).end('{"errors":["internal error"]}');
  },
  'rate-limited'({ res }) {
    res
      .writeHead(429, { 'content-type': 'application/json' })
      .end('{"errors":["request path \\"x\\": rate limit quota exceeded"]}');
  },
  chunked({ res, settings }) {
    const body = Buffer.from(settings.body, 'base64');
    res.writeHead(settings.status, { 'content-type': settings.contentType, 'transfer-encoding': 'chunked' });
    for (const byte of body) res.write(Buffer.of(byte));
    res.end();
  },
  /** One byte every `delayMs`. */
  drip({ res, settings }) {
    const body = Buffer.from(settings.body, 'base64');
    res.writeHead(settings.status, { 'content-type': settings.contentType, 'content-length': body.length });
    let sent = 0;
    const timer = setInterval(() => {
      res.write(body.subarray(sent, ++sent));
      if (sent < body.length && !res.destroyed) return;
      clearInterval(timer);
      res.end();
    }, settings.delayMs);
  },
  large({ res, settings }) {
    res.writeHead(200, { 'content-type': settings.contentType, 'content-length': settings.bytes });
    res.end(Buffer.alloc(settings.bytes, ' '));
  },
  'http-1.0'(context) {
    const body = Buffer.from(context.settings.body, 'base64').toString('latin1');
    rawAndClose(context, `HTTP/1.0 200 OK\r\nContent-Type: ${context.settings.contentType}\r\n\r\n${body}`);
  },
  garbage: (context) => rawAndClose(context, '\u0000\u0001\u00fe\u00ffthis is not HTTP\r\n\r\n'),
  'tls-alert': (context) => rawAndClose(context, '\x15\x03\x01\x00\x02\x02\x46'),
  'close-before-answer': (context) => rawAndClose(context, ''),
  reset: ({ socket }) => void socket.resetAndDestroy(),
  'close-in-head': (context) => rawAndClose(context, 'HTTP/1.1 200 OK\r\nContent-Ty'),
  /** Promises more than it sends, then closes. */
  'close-in-body': (context) =>
    rawAndClose(
      context,
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"data":{"a',
    ),
  'close-in-chunk': (context) =>
    rawAndClose(context, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"data":{"a'),
  /** Promises more than it sends, and keeps the connection open. */
  'stalls-in-body': (context) =>
    raw(
      context,
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"data":{"a',
    ),
  /** Complete for HTTP, cut off for JSON. */
  'truncated-json'({ res }) {
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"certificate":"-----BEGIN CERT');
  },
  'redirect-self'({ req, res }) {
    res.writeHead(307, { location: req.url }).end();
  },
  'redirect-elsewhere'({ res, settings }) {
    res.writeHead(307, { location: settings.location }).end();
  },
};
