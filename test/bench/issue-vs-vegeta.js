/**
 * As issue-vs-fetch, beside vegeta: its library is the engine of vault-benchmark, which sends with as many workers as are told,
 * as fast as answers come, and takes the HTTP status for the truth.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureInTurn } from './pairs.js';
import { peer as vegeta } from './peers/vegeta.js';
import { ourCommand, WARMUP_SECONDS } from './processes.js';
import { withVault } from './vault.js';

const CONCURRENCY = 10;

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run(settings) {
  const question = `Certificates/s on a real Vault on the same machine: P-256, no_store, RSA-2048 CA, closed loop, ${CONCURRENCY} in flight`;
  if ((await vegeta.available()) === null) {
    return { question, columns: ['issue/s', 'vegeta/s', 'ratio'], rows: [[null, null, null]], summary: {} };
  }
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-bench-'));
  try {
    return await withVault(async ({ url, token }) => {
      const env = { VAULT_ADDR: url, VAULT_TOKEN: token };
      const ours = ourCommand(['issue', '--role', 'ec-no-store'], env, CONCURRENCY);
      const theirs = vegetaIssue(folder, { url, token });
      return {
        question,
        ...(await measureInTurn(
          settings,
          { name: 'issue', measure: ours },
          { name: 'vegeta', measure: theirs },
        )),
      };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {string} folder
 * @param {{url: string, token: string}} vault
 * @returns {(seconds: number) => Promise<import('./pairs.js').Measured>}
 */
function vegetaIssue(folder, { url, token }) {
  const bodyFile = join(folder, 'issue.json');
  writeFileSync(bodyFile, JSON.stringify({ common_name: 'localhost' }));
  const job = {
    url: `${url}/v1/pki_int/issue/ec-no-store`,
    headers: { 'X-Vault-Token': token },
    bodyFile,
    contentType: 'application/json',
    connections: CONCURRENCY,
    folder,
    cores: null,
  };
  return async (seconds) => {
    // It has no warm-up of its own, and ours has one.
    await vegeta.closedLoop({ ...job, seconds: WARMUP_SECONDS });
    const { perSecond, failed, cpuSeconds } = await vegeta.closedLoop({ ...job, seconds });
    if (failed > 0) throw new Error(`${failed} requests of vegeta failed`);
    return { perSecond, cpuMs: (cpuSeconds * 1000) / (perSecond * seconds) };
  };
}
