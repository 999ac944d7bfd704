/** The real Vault of the benches: in memory, on this machine, with the PKI of the tests. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setUpPki } from '../vault/pki.js';
import { startVault } from '../vault/start.js';

/**
 * @template T
 * @param {(vault: {url: string, token: string, caCert: string | null, cert: string, issuer: string, folder: string}) => Promise<T>} use `cert` and
 *   `issuer`: files of a stored certificate and of its issuer; `folder` for more of them
 * @param {{tls?: boolean, caKeyType?: 'rsa' | 'ec'}} [options]
 * @returns {Promise<T>}
 */
export async function withVault(use, options) {
  const vault = await startVault(options);
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-bench-'));
  try {
    const client = vault.connect();
    const { intermediate } = await setUpPki(client, options);
    const { data } = await client.write('pki_int/issue/ec-stored', { common_name: 'localhost' });
    await client.close();
    const [cert, issuer] = [join(folder, 'leaf.pem'), join(folder, 'issuer.pem')];
    writeFileSync(cert, data?.certificate);
    writeFileSync(issuer, intermediate);
    return await use({ url: vault.url, token: vault.token, caCert: vault.caCert, cert, issuer, folder });
  } finally {
    await vault.stop();
    rmSync(folder, { recursive: true });
  }
}
