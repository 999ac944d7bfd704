/** Misbehaving HTTP servers on loopback, for tests of the load path. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { BEHAVIOURS, DEFAULTS } from './behaviours.js';

/** @import { Settings } from './behaviours.js' */
/** @import { ChildProcess } from 'node:child_process' */

const SERVER = fileURLToPath(new URL('server.js', import.meta.url));

/**
 * @typedef {object} Arrival
 * @property {bigint} atNs on the monotonic clock of this machine (`process.hrtime.bigint()`): comparable between
 *   processes on Linux
 * @property {bigint | null} answeredNs when its whole answer was handed to the socket; null: it was not, or not as HTTP
 * @property {string} method
 * @property {string} path
 * @property {number} bytes of the body, as its Content-Length says
 */

/**
 * @param {{behaviour: string, port?: number, body?: Buffer | string} & Partial<Omit<Settings, 'body'>>} options
 *   `behaviour`: a name in behaviours.js; `port`: 0 takes a free one
 */
export async function startTarget({ behaviour, port = 0, body, ...changes }) {
  if (!Object.hasOwn(BEHAVIOURS, behaviour)) throw new Error(`no behaviour ${behaviour}`);
  const given = body === undefined ? {} : { body: Buffer.from(body).toString('base64') };
  const settings = { ...DEFAULTS, ...changes, ...given };
  let current = { behaviour, settings };
  let running = await launch({ ...current, port });
  const fixedPort = running.port;

  return {
    port: fixedPort,
    url: `http://127.0.0.1:${fixedPort}`,
    /** When its freeze schedule began; changes with `comeBack`. */
    get startNs() {
      return running.startNs;
    },
    /** @param {{clear?: boolean}} [options] @returns {Promise<Arrival[]>} since it started or came back */
    async arrivals({ clear = false } = {}) {
      const { arrivals } = await ask(running.child, { type: 'arrivals', clear }, 'arrivals');
      return arrivals.map((/** @type {any} */ each) => ({
        ...each,
        atNs: BigInt(each.atNs),
        answeredNs: each.answeredNs === null ? null : BigInt(each.answeredNs),
      }));
    },
    /** Another behaviour from now on. @param {string} name @param {Partial<Settings>} [more] */
    async behave(name, more = {}) {
      current = { behaviour: name, settings: { ...current.settings, ...more } };
      await ask(running.child, { type: 'behave', behaviour: name, settings: more }, 'behaving');
    },
    /** `kill -9`: what was recorded is lost with it. */
    async die() {
      await end(running.child);
    },
    /** On the same port. */
    async comeBack() {
      running = await launch({ ...current, port: fixedPort });
    },
    async stop() {
      await end(running.child);
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startTarget>>} Target */

/** @param {{behaviour: string, settings: Settings, port: number}} what */
async function launch(what) {
  const child = fork(SERVER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const { port, startNs } = await ask(child, { type: 'start', ...what }, 'started');
  child.unref();
  child.channel?.unref();
  return { child, port: Number(port), startNs: BigInt(startNs) };
}

/**
 * @param {ChildProcess} child
 * @param {object} message
 * @param {string} expected the type of the reply
 * @returns {Promise<any>}
 */
function ask(child, message, expected) {
  return new Promise((resolve, reject) => {
    const done = (/** @type {() => void} */ settle) => {
      child.off('message', onReply);
      child.off('exit', onExit);
      child.channel?.unref();
      settle();
    };
    const onReply = (/** @type {any} */ reply) => {
      if (reply.type === expected) done(() => resolve(reply));
      else if (reply.type === 'failed') done(() => reject(new Error(`target: ${reply.message}`)));
    };
    const onExit = () => done(() => reject(new Error('the target has ended')));
    child.channel?.ref();
    child.on('message', onReply);
    child.once('exit', onExit);
    child.send(message, (error) => error && done(() => reject(error)));
  });
}

/** @param {ChildProcess} child */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
