/** Load generators to compare with. The benches skip missing ones. */
import { peer as autocannon } from './autocannon.js';
import { peer as fortio } from './fortio.js';
import { peer as k6 } from './k6.js';
import { peer as vegeta } from './vegeta.js';
import { peer as wrk } from './wrk.js';
/** @import { Peer } from './peer.js' */

/** @type {Peer[]} */
export const peers = [autocannon, fortio, k6, vegeta, wrk];
