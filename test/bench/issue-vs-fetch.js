/** Role P-256 with no_store: the issuing that costs Vault least, so that what measures it shows most. */
import { measureInTurn } from './pairs.js';
import { fetchLoop, ourCommand } from './processes.js';
import { withVault } from './vault.js';

const CONCURRENCY = 10;

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run(settings) {
  return withVault(async ({ url, token }) => {
    const env = { VAULT_ADDR: url, VAULT_TOKEN: token };
    const job = {
      url: `${url}/v1/pki_int/issue/ec-no-store`,
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify({ common_name: 'localhost' })).toString('base64'),
      concurrency: CONCURRENCY,
    };
    return {
      question: `Certificates/s on a real Vault on the same machine: P-256, no_store, RSA-2048 CA, closed loop, ${CONCURRENCY} in flight`,
      ...(await measureInTurn(
        settings,
        { name: 'issue', measure: ourCommand(['issue', '--role', 'ec-no-store'], env, CONCURRENCY) },
        { name: 'fetch', measure: fetchLoop(job, env) },
      )),
    };
  });
}
