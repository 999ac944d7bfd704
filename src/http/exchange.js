/** What a connection of the load path is asked and what it tells: types alone. */

/**
 * @typedef {object} Request
 * @property {'GET' | 'POST' | 'PUT' | 'PATCH' | 'LIST' | 'DELETE'} method
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {Uint8Array | string | null} body
 */
/**
 * @typedef {object} Exchange told what happens to a request on a connection; exactly one of onAnswer, onFailure ends it
 * @property {() => void} [onDial] there is no open connection: one is being made first
 * @property {() => void} onSent on the wire now
 * @property {(status: number, body: Uint8Array) => void} onAnswer the body is only lent until the call returns
 * @property {(outcome: string, beforeSent: boolean) => void} onFailure
 */
/**
 * @typedef {object} Connection
 * @property {(timeoutMs: number) => Promise<void>} open connects beforehand; rejects with the reason, which follows the
 *   target's name in a sentence
 * @property {(request: Request, exchange: Exchange) => void} send
 * @property {() => void} abort ends the request in flight without telling its exchange
 * @property {() => Promise<void>} close
 */

export {};
