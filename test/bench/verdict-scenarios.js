/** The targets and loads of the bench `verdict`. */
/** @import { TargetOptions } from './target/start.js' */

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {TargetOptions} behaviour
 * @property {number | null} rate per second; null: closed loop
 * @property {number} connections
 * @property {'poisson'} [arrivals]
 */

const FROZEN = { freezeEveryMs: 1000, freezeForMs: 300 };

/** @type {readonly Scenario[]} */
export const SCENARIOS = [
  { name: '5 ms, 20/s', behaviour: { delayMs: 5 }, rate: 20, connections: 1 },
  { name: '20 ms, 100/s', behaviour: { delayMs: 20 }, rate: 100, connections: 10 },
  { name: '1 ms, 1,000/s', behaviour: { delayMs: 1 }, rate: 1000, connections: 20 },
  { name: '1 ms, 5,000/s', behaviour: { delayMs: 1 }, rate: 5000, connections: 100 },
  { name: 'spread 5 ms, 100/s', behaviour: { delayMs: 1, spreadMs: 5 }, rate: 100, connections: 10 },
  { name: 'spread 20 ms, 500/s', behaviour: { spreadMs: 20 }, rate: 500, connections: 50 },
  {
    name: 'spread 10 ms, 50/s Poisson, one connection',
    behaviour: { spreadMs: 10 },
    rate: 50,
    connections: 1,
    arrivals: 'poisson',
  },
  { name: 'freezing, 20/s', behaviour: { delayMs: 1, ...FROZEN }, rate: 20, connections: 10 },
  { name: 'freezing, 200/s', behaviour: { delayMs: 1, ...FROZEN }, rate: 200, connections: 100 },
  { name: 'slow, 50/s', behaviour: { delayMs: 200, spreadMs: 50 }, rate: 50, connections: 50 },
  {
    name: 'overloaded, 300/s offered, 200/s possible, limited by connections',
    behaviour: { delayMs: 50 },
    rate: 300,
    connections: 10,
  },
  {
    name: 'overloaded, 300/s offered, 200/s possible, one server',
    behaviour: { serviceMs: 5 },
    rate: 300,
    connections: 10,
  },
  { name: '1 ms, closed, one connection', behaviour: { delayMs: 1 }, rate: null, connections: 1 },
  { name: 'spread 5 ms, closed', behaviour: { delayMs: 1, spreadMs: 5 }, rate: null, connections: 10 },
  { name: 'spread 20 ms, closed', behaviour: { spreadMs: 20 }, rate: null, connections: 100 },
  { name: 'freezing, closed', behaviour: { delayMs: 1, ...FROZEN }, rate: null, connections: 10 },
];
