/** A request, its bytes on the wire (RFC 9112, sections 3 and 5), and the interface of the load's connections. */

/**
 * @typedef {{method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'LIST' | 'DELETE', path: string, headers: Record<string, string>,
 *   body: Uint8Array | string | null}} Request
 * @typedef {object} Exchange callbacks for one request; exactly one of onResponse and onFailure ends it
 * @property {() => void} [onConnect] a new connection is opened for the request
 * @property {() => void} [onConnected] its TCP handshake is complete, and a TLS handshake begins
 * @property {() => void} onSent the request goes on the wire
 * @property {() => void} [onHeldBack] part of the request waits for the server's flow control
 * @property {() => void} [onWritten] a request that is large or was held back is in the kernel's buffer
 * @property {() => void} [onFirstBytes] of a response that arrives in parts
 * @property {(status: number, body: Uint8Array, mayHaveWaited?: boolean) => void} onResponse the body is valid until the call returns;
 *   `mayHaveWaited`: until the tool had read other responses on its connection
 * @property {(outcome: string, beforeSent: boolean) => void} onFailure
 * @typedef {object} Connection
 * @property {(timeoutMs: number) => Promise<void>} open connects in advance; the message of a
 *   rejection continues a sentence that begins with the target's name
 * @property {() => boolean} isOpen a request would need no new connection
 * @property {(request: Request, exchange: Exchange) => void} send
 * @property {() => string | null | void} abort cancels the request in flight without a callback; the code of the failure if
 *   a proxy had not led to the server yet
 * @property {() => Promise<void>} close
 */

/** A larger body may take several turns of the event loop to write: Linux's buffer begins with 16 KiB. */
export const LARGE_BODY_BYTES = 16_384;

/** More may not fit into the kernel's buffer: the server then waits until the tool reads. */
export const LARGE_RESPONSE_BYTES = 65_536;

/** Visible ASCII; callers escape everything else. */
const PATH = /^\/[\x21-\x7e]*$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Methods that send a Content-Length even if it is 0 (RFC 9110, 8.6). */
export const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Reuses the bytes when the same request object, or the same headers object, comes twice in a row.
 *
 * @param {string} host for the Host field
 * @param {{prefix?: string, fields?: string}} [through] a proxy: `prefix` of the path (RFC 9112, 3.2.2); its header fields
 * @returns {(request: Request) => Buffer} throws a TypeError for a path or header field that HTTP does not allow
 */
export function createEncoder(host, { prefix = '', fields: own = '' } = {}) {
  let last = { request: /** @type {Request | null} */ (null), bytes: Buffer.alloc(0) };
  let fields = { headers: /** @type {Request['headers'] | null} */ (null), text: '' };
  return (request) => {
    if (request === last.request) return last.bytes;
    const { method, path, headers, body } = request;
    checkPath(path);
    if (headers !== fields.headers) fields = { headers, text: writeFields(headers) };
    const length = body === null ? 0 : Buffer.byteLength(body);
    const lengthField = length > 0 || METHODS_WITH_BODY.has(method) ? `Content-Length: ${length}\r\n` : '';
    const head = `${method} ${prefix}${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n${own}${fields.text}${lengthField}\r\n`;
    const bytes = Buffer.allocUnsafe(head.length + length);
    bytes.write(head, 0, 'latin1');
    if (typeof body === 'string') bytes.write(body, head.length);
    else if (body !== null) bytes.set(body, head.length);
    last = { request, bytes };
    return bytes;
  };
}

/** @param {string} path */
export function checkPath(path) {
  if (!PATH.test(path)) throw new TypeError('a path that HTTP does not allow');
}

/** @param {Record<string, string>} headers @returns {[name: string, value: string][]} */
export function checkedFields(headers) {
  const fields = Object.entries(headers);
  if (fields.every(([name, value]) => NAME.test(name) && VALUE.test(value))) return fields;
  throw new TypeError('a header field that HTTP does not allow');
}

/** @param {Record<string, string>} headers */
const writeFields = (headers) =>
  checkedFields(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
