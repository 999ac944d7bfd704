/** What `setup` may be told, on the command line and in scenarios. */
import { camelCase, readOptions } from '../../common/options.js';

const GROUP = 'Set-up';

export const DEFAULT_NAME = 'vault-pki-load';

/** What operations may need beside a PKI. */
export const ENGINES = Object.freeze(/** @type {const} */ (['kv', 'transit', 'approle']));

/** @type {{name: import('../../common/options.js').OptionSpec}} */
export const nameOption = {
  name: {
    type: 'text',
    group: GROUP,
    placeholder: 'NAME',
    default: DEFAULT_NAME,
    describe: 'Prefix of all names: NAME-root, NAME-int, ...',
  },
};

/** @type {Record<string, import('../../common/options.js').OptionSpec>} */
export const setupOptions = {
  ...nameOption,
  'ca-key-type': {
    type: 'choice',
    group: GROUP,
    choices: ['rsa', 'ec'],
    default: 'rsa',
    describe: 'CA keys: RSA-2048 or P-256',
  },
  'auto-rebuild': {
    type: 'flag',
    group: GROUP,
    describe: 'Rebuild CRLs periodically, not with every revocation',
  },
  with: {
    type: 'list',
    group: GROUP,
    placeholder: 'ENGINES',
    describe: `Besides the PKI: ${ENGINES.join(', ')}, comma-separated`,
  },
};

/**
 * @param {Record<string, unknown>} given by kebab- or camelCase name
 * @returns {{name: string, caKeyType: 'rsa' | 'ec' | null, autoRebuild: boolean | null, with: string[]}} `caKeyType`, `autoRebuild`:
 *   null where they are not given, which says nothing of a CA that is there
 */
export function readSetupOptions(given) {
  const { name, caKeyType, autoRebuild, with: engines } = readOptions(setupOptions, given);
  const isGiven = (/** @type {string} */ option) => (given[camelCase(option)] ?? given[option]) !== undefined;
  return {
    name,
    caKeyType: isGiven('ca-key-type') ? caKeyType : null,
    autoRebuild: isGiven('auto-rebuild') ? autoRebuild : null,
    with: engines,
  };
}
