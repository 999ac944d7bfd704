/**
 * Throw-away certificate authorities made by the real `openssl`, in a temporary directory that goes away with them.
 */
import '../need-openssl.js';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @typedef {{name: string, pem: string, der: Buffer, certFile: string, keyFile: string, serialHex: string}} Issued */

/** Arguments of `openssl genpkey`. @type {Record<string, string[]>} */
const KEY_ARGS = {
  rsa: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
  'rsa-pss': ['-algorithm', 'RSA-PSS', '-pkeyopt', 'rsa_keygen_bits:2048'],
  ec: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  ec384: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  ed25519: ['-algorithm', 'ED25519'],
  ed448: ['-algorithm', 'ED448'],
};

/**
 * @param {string[]} args
 * @param {{cwd?: string, input?: string | Buffer}} [options]
 */
export function openssl(args, options = {}) {
  return execFileSync('openssl', args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
}

/** @param {string} pem */
export function pemToDer(pem) {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}

export class TestCa {
  /** @param {{key?: string, name?: string}} [options] key: a name in KEY_ARGS */
  constructor({ key = 'ec', name = 'Test CA' } = {}) {
    this.key = key;
    this.dir = mkdtempSync(join(tmpdir(), 'pki-test-'));
    /** @type {string[]} */
    this.index = [];
    this.count = 0;
    /** @type {Issued} */
    this.ca = this.#selfSigned('ca', name);
  }

  close() {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** @param {string} file */
  path(file) {
    return join(this.dir, file);
  }

  /** @param {string} file @param {string} key */
  #makeKey(file, key) {
    openssl(['genpkey', ...KEY_ARGS[key], '-out', this.path(`${file}.key`)]);
    return this.path(`${file}.key`);
  }

  /** @param {string} file @param {string} name @returns {Issued} */
  #selfSigned(file, name) {
    const keyFile = this.#makeKey(file, this.key);
    const certFile = this.path(`${file}.pem`);
    const extensions = [
      '-addext',
      'basicConstraints=critical,CA:TRUE',
      '-addext',
      'keyUsage=keyCertSign,cRLSign',
    ];
    openssl([
      'req',
      '-x509',
      '-new',
      '-key',
      keyFile,
      '-subj',
      `/O=Throw-away/CN=${name}`,
      '-days',
      '30',
      '-out',
      certFile,
      ...extensions,
    ]);
    return this.#read(name, certFile, keyFile);
  }

  /** @param {string} name @param {string} certFile @param {string} keyFile @returns {Issued} */
  #read(name, certFile, keyFile) {
    const pem = readFileSync(certFile, 'utf8');
    const serialHex = openssl(['x509', '-in', certFile, '-noout', '-serial'])
      .toString()
      .trim()
      .replace('serial=', '');
    return { name, pem, der: pemToDer(pem), certFile, keyFile, serialHex };
  }

  /**
   * @param {string} name becomes the commonName
   * @param {{key?: string, extensions?: string[], days?: number, status?: 'V' | 'R' | null, serial?: string, reason?: string,
   *   extraArgs?: string[]}} [options]
   * @returns {Issued}
   */
  issue(
    name,
    {
      key = 'ec',
      extensions = [],
      days = 20,
      status = 'V',
      serial,
      reason = 'keyCompromise',
      extraArgs = [],
    } = {},
  ) {
    this.count += 1;
    const file = `cert${this.count}`;
    const keyFile = this.#makeKey(file, key);
    const certFile = this.path(`${file}.pem`);
    writeFileSync(this.path(`${file}.ext`), extensions.join('\n'));
    openssl([
      'req',
      '-new',
      '-key',
      keyFile,
      '-subj',
      name === '' ? '/' : `/CN=${name}`,
      '-out',
      this.path(`${file}.csr`),
    ]);
    const serialArgs =
      serial === undefined ? ['-CAcreateserial', '-CAserial', this.path('serial')] : ['-set_serial', serial];
    openssl([
      'x509',
      '-req',
      '-in',
      this.path(`${file}.csr`),
      '-CA',
      this.ca.certFile,
      '-CAkey',
      this.ca.keyFile,
      ...serialArgs,
      '-days',
      String(days),
      '-extfile',
      this.path(`${file}.ext`),
      '-out',
      certFile,
      ...extraArgs,
    ]);
    const issued = this.#read(name, certFile, keyFile);
    const revoked = status === 'R' ? `260101000000Z,${reason}` : '';
    if (status !== null)
      this.index.push(`${status}\t491231235959Z\t${revoked}\t${issued.serialHex}\tunknown\t/CN=${name}`);
    return issued;
  }

  /** Writes the index `openssl ocsp` answers from: what is not in it is unknown. */
  indexFile() {
    writeFileSync(this.path('index.txt'), `${this.index.join('\n')}\n`);
    writeFileSync(this.path('index.txt.attr'), 'unique_subject = no\n');
    return this.path('index.txt');
  }

  /**
   * The response `openssl ocsp` makes, without a network.
   *
   * @param {Uint8Array} request
   * @param {{signer?: Issued, args?: string[]}} [options]
   */
  respond(request, { signer = this.ca, args = ['-ndays', '1'] } = {}) {
    const [reqin, respout] = [this.path('offline-req.der'), this.path('offline-resp.der')];
    writeFileSync(reqin, request);
    const fixed = ['ocsp', '-index', this.indexFile(), '-CA', this.ca.certFile, '-noverify'];
    openssl([
      ...fixed,
      '-rsigner',
      signer.certFile,
      '-rkey',
      signer.keyFile,
      '-reqin',
      reqin,
      '-respout',
      respout,
      ...args,
    ]);
    return readFileSync(respout);
  }

  /**
   * The request `openssl ocsp` makes.
   *
   * @param {Issued} cert
   * @param {string[]} args
   */
  request(cert, args) {
    const reqout = this.path('reqout.der');
    openssl(['ocsp', '-issuer', this.ca.certFile, ...args, '-cert', cert.certFile, '-reqout', reqout]);
    return readFileSync(reqout);
  }

  /**
   * A real responder on a free loopback port.
   *
   * @param {{signer?: Issued, args?: string[]}} [options]
   * @returns {Promise<{url: string, stop: () => Promise<void>}>}
   */
  async listen({ signer = this.ca, args = ['-ndays', '1'] } = {}) {
    const port = await freePort();
    const fixed = ['ocsp', '-port', String(port), '-ignore_err', '-index', this.indexFile()];
    const child = spawn(
      'openssl',
      [
        ...fixed,
        '-CA',
        this.ca.certFile,
        '-rsigner',
        signer.certFile,
        '-rkey',
        signer.keyFile,
        '-text',
        ...args,
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    const exited = new Promise((resolve) => child.once('exit', resolve));
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
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
