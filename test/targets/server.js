/** The process of a target: its own clock, its own event loop. Talks to startTarget() over IPC. */
import { createServer } from 'node:http';
import { BEHAVIOURS } from './behaviours.js';

/** @import { Settings } from './behaviours.js' */
/** @import { AddressInfo } from 'node:net' */

/** @typedef {{behaviour: string, settings: Settings, port: number, afterRequests: number}} Start */

let behaviour = '';
/** @type {Settings} */
let settings;
/** @type {{atNs: string, answeredNs: string | null, method: string, path: string, bytes: number}[]} */
let arrivals = [];
let startNs = 0n;

const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
  /** @type {typeof arrivals[number]} */
  const arrival = {
    atNs: String(process.hrtime.bigint()),
    answeredNs: null,
    method: req.method ?? '',
    path: req.url ?? '',
    bytes: Number(req.headers['content-length'] ?? 0),
  };
  arrivals.push(arrival);
  res.once('finish', () => {
    arrival.answeredNs = String(process.hrtime.bigint());
  });
  req.resume();
  const elapsedMs = () => Number(process.hrtime.bigint() - startNs) / 1e6;
  BEHAVIOURS[behaviour]({ req, res, socket: req.socket, settings, elapsedMs });
});
server.on('connection', (socket) => socket.setNoDelay(true).on('error', () => {}));

/** @param {any} message */
function onMessage(message) {
  if (message.type === 'start') {
    ({ behaviour, settings } = message);
    server.listen(message.port, '127.0.0.1', () => {
      startNs = process.hrtime.bigint();
      const { port } = /** @type {AddressInfo} */ (server.address());
      process.send?.({ type: 'started', port, startNs: String(startNs) });
    });
  } else if (message.type === 'behave') {
    behaviour = message.behaviour;
    Object.assign(settings, message.settings);
    process.send?.({ type: 'behaving' });
  } else {
    process.send?.({ type: 'arrivals', arrivals });
    arrivals = message.clear ? [] : arrivals;
  }
}

process.on('message', onMessage);
process.on('disconnect', () => process.exit());
server.on('error', (error) => process.send?.({ type: 'failed', message: error.message }));
