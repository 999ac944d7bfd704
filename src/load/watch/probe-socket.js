/**
 * A TCP connection over the loopback interface, from the recorder thread to the sender. What comes through it takes the way
 * of a response: the kernel wakes the sender, whose event loop polls the socket and reads it.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const HOST = '127.0.0.1';

/** Two doubles: see Probe. */
const PROBE_BYTES = 16;

/**
 * The sender's end.
 *
 * @param {(probe: import('./prober.js').Probe) => void} onProbe
 * @returns {Promise<{port: number, accept: (peerPort: number) => void, close: () => void} | null>} null: this process may not
 *   listen on the loopback interface. `accept` waits for the peer that has this port and turns all others away
 */
export async function listenForProbes(onProbe) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  /** @type {number | null} */
  let expectedPort = null;
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).unref());
    select();
  });
  function select() {
    if (expectedPort === null) return;
    for (const socket of sockets) {
      if (socket.remotePort !== expectedPort) socket.destroy();
      else {
        readProbes(socket, onProbe);
        server.close();
      }
    }
  }
  try {
    await once(server.listen(0, HOST), 'listening');
  } catch {
    return null;
  }
  server.unref();
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    accept(peerPort) {
      expectedPort = peerPort;
      select();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * @param {import('node:net').Socket} socket
 * @param {(probe: import('./prober.js').Probe) => void} onProbe
 */
function readProbes(socket, onProbe) {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (; at + PROBE_BYTES <= bytes.length; at += PROBE_BYTES) {
      onProbe({ plannedMs: bytes.readDoubleLE(at), stampMs: bytes.readDoubleLE(at + 8) });
    }
    rest = bytes.subarray(at);
  });
}

/**
 * The recorder's end. Each write goes to the kernel at once, within the call, so a thread that never turns its event loop can
 * use it. (The kernel has room for some 100,000 probes.)
 *
 * @param {number} port
 * @returns {Promise<{localPort: number, send: (probe: import('./prober.js').Probe) => void, close: () => void}>}
 */
export async function connectProbes(port) {
  const socket = connect({ host: HOST, port, noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => {}).unref();
  const bytes = Buffer.alloc(PROBE_BYTES);
  return {
    localPort: Number(socket.localPort),
    send({ plannedMs, stampMs }) {
      bytes.writeDoubleLE(plannedMs, 0);
      bytes.writeDoubleLE(stampMs, 8);
      socket.write(bytes);
    },
    close: () => void socket.destroy(),
  };
}
