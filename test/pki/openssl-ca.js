/** A test CA that `openssl ocsp` responds for. */
import '../need-openssl.js';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { TestCa as CaInMemory } from './test-ca.js';
/** @import { Issued } from './test-ca.js' */
/** @import { AddressInfo } from 'node:net' */

/** @param {string[]} args @param {{cwd?: string, input?: string | Buffer}} [options] */
export function openssl(args, options = {}) {
  return execFileSync('openssl', args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
}

export class TestCa extends CaInMemory {
  /** What is not in the index is unknown. @param {Issued} signer */
  #ocspArgs(signer) {
    writeFileSync(this.path('index.txt'), `${this.index.join('\n')}\n`);
    writeFileSync(this.path('index.txt.attr'), 'unique_subject = no\n');
    const keys = ['-rsigner', signer.certFile, '-rkey', signer.keyFile];
    return ['ocsp', '-index', this.path('index.txt'), '-CA', this.ca.certFile, ...keys];
  }

  /**
   * The response `openssl ocsp` makes, without a network.
   * @param {Uint8Array} request
   * @param {{signer?: Issued, args?: string[]}} [options]
   */
  respond(request, { signer = this.ca, args = ['-ndays', '1'] } = {}) {
    const [reqin, respout] = [this.path('request.der'), this.path('response.der')];
    writeFileSync(reqin, request);
    openssl([...this.#ocspArgs(signer), '-noverify', '-reqin', reqin, '-respout', respout, ...args]);
    return readFileSync(respout);
  }

  /** The request `openssl ocsp` makes. @param {Issued} cert @param {string[]} args */
  request(cert, args) {
    const reqout = this.path('reqout.der');
    openssl(['ocsp', '-issuer', this.ca.certFile, ...args, '-cert', cert.certFile, '-reqout', reqout]);
    return readFileSync(reqout);
  }

  /**
   * A real responder on a free loopback port.
   * @param {{signer?: Issued, args?: string[]}} [options]
   * @returns {Promise<{url: string, stop: () => Promise<void>}>}
   */
  async listen({ signer = this.ca, args = ['-ndays', '1'] } = {}) {
    const port = await freePort();
    const all = [...this.#ocspArgs(signer), '-port', String(port), '-ignore_err', '-text', ...args];
    const child = spawn('openssl', all, { stdio: ['ignore', 'ignore', 'pipe'] });
    const exited = once(child, 'exit');
    await new Promise((resolve, reject) => {
      let text = '';
      child.stderr.on('data', (chunk) => {
        text += chunk;
        if (/waiting for/i.test(text)) resolve(undefined);
      });
      child.once('exit', () => reject(new Error(`openssl ocsp did not start: ${text}`)));
    });
    const stop = async () => {
      child.kill();
      await exited;
    };
    return { url: `http://127.0.0.1:${port}`, stop };
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  server.close();
  return port;
}
