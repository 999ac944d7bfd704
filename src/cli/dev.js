/** `dev`: runs the embedded PKI server in the foreground. */
import { EXIT } from '../common/errors.js';
import { inGroup, option, readOptions } from '../common/options.js';
import { SIGNALS } from '../common/stop.js';
import { createDevServer, DEV_SERVER_NOTICE } from '../dev/server.js';
import { quoted } from '../vault/setup/command.js';

/** @import { DevServer } from '../dev/server.js' */
/** @import { Command } from './arguments.js' */

const options = inGroup('Server', {
  port: { type: 'integer', default: 8200, max: 65_535, describe: 'Port to listen on; 0 picks a free one' },
  host: { type: 'text', placeholder: 'ADDRESS', default: '127.0.0.1', describe: 'Address to listen on' },
  'allow-remote': option('flag', 'Allow a --host that is not loopback; anyone can then issue certificates'),
  mount: option('text', 'Mount of the PKI secrets engine', { placeholder: 'PATH', default: 'pki_int' }),
  'ca-key-type': option('choice', 'CA key: RSA-2048 or P-256', { choices: ['rsa', 'ec'], default: 'rsa' }),
  tls: { type: 'flag', describe: 'Serve HTTPS, with a certificate from its own CA' },
});

/** @type {Command} */
export const command = {
  options,
  examples: ['dev', 'dev --tls --port 0 --ca-key-type ec'],
  epilogue: 'For tests only. All data is in memory, and lost on Ctrl-C.',
  async run(given) {
    const server = await createDevServer(/** @type {any} */ (readOptions(options, given)));
    const stopped = new Promise((resolve) => {
      for (const signal of SIGNALS) process.once(signal, resolve);
    });
    process.stdout.write(describe(server));
    await stopped;
    await server.close();
    return EXIT.ok;
  },
};

/** @param {DevServer} server */
function describe({ url, token, caFile, roles }) {
  return `${DEV_SERVER_NOTICE}

Listening on ${url}; roles: ${roles.join(', ')}. In another terminal:

  export VAULT_ADDR=${url} VAULT_TOKEN=${token}${caFile === null ? '' : ` VAULT_CACERT=${quoted(caFile)}`}
  npx vault-pki-load issue --duration 10s
  npx vault-pki-load ocsp --rate 20 --duration 10s

Press Ctrl-C to stop it.
`;
}
