/** What operations on Vault's API share: its headers, its paths, and how a certificate is asked for. */

/**
 * @param {string | null} token a secret
 * @param {string | null} namespace
 * @returns {Record<string, string>}
 */
export function apiHeaders(token, namespace) {
  return {
    'content-type': 'application/json',
    'x-vault-request': 'true',
    ...(token === null ? {} : { 'x-vault-token': token }),
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  };
}

/**
 * @param {string} basePath of the address, without a slash at its end
 * @param {...string} parts mount, verb, role
 * @returns {string}
 */
export function apiPath(basePath, ...parts) {
  const encoded = parts.join('/').split('/').map(encodeURIComponent).join('/');
  return `${basePath}/v1/${encoded}`;
}

/**
 * @param {{commonName: string, altNames: string[], ipSans: string[], ttlMs: number | null}} asked
 * @returns {Record<string, string>} what Vault's issue and sign take
 */
export function certificateParameters({ commonName, altNames, ipSans, ttlMs }) {
  return {
    common_name: commonName,
    ...(altNames.length > 0 ? { alt_names: altNames.join(',') } : {}),
    ...(ipSans.length > 0 ? { ip_sans: ipSans.join(',') } : {}),
    ...(ttlMs !== null ? { ttl: `${Math.max(1, Math.round(ttlMs / 1000))}s` } : {}),
  };
}
