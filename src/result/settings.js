/** Settings of runs, one by one, so that those that differ can be named. */

/** Paths on the machine that ran it: another path is not another load. */
export const PATHS = Object.freeze([
  'target.tls.caCert',
  'target.tls.caPath',
  'target.tls.clientCert',
  'target.tls.clientKey',
  'options.keep',
]);

/**
 * @param {unknown} value e.g. the plan of a result
 * @param {string} [prefix]
 * @returns {Map<string, string>} JSON of each value that is no object, by `outer.inner`
 */
export function flatten(value, prefix = '') {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[prefix, JSON.stringify(value) ?? 'null']]);
  }
  const inner = Object.entries(value).map(([key, one]) =>
    flatten(one, prefix === '' ? key : `${prefix}.${key}`),
  );
  return new Map(inner.flatMap((map) => [...map]));
}

/** @param {string} key `outer.inner` @param {readonly string[]} names of settings, or of groups of them */
export function isAmong(key, names) {
  return names.some((name) => key === name || key.startsWith(`${name}.`));
}

/** @param {string} json @param {number} most characters */
export function shortened(json, most) {
  return json.length <= most ? json : `${json.slice(0, most)}...`;
}
