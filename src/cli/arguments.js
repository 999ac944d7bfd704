/** What people type, as the parser wants it. */

/**
 * Vault's own command line takes options with one dash (`-format=json`): those become ones with two. `-h` stays for
 * help; a lone dash and negative numbers are values.
 *
 * @param {string[]} args
 * @returns {string[]}
 */
export function normaliseArguments(args) {
  return args.map((arg) => {
    if (arg === '-h') return '--help';
    return /^-[a-z][\w-]+(=.*)?$/s.test(arg) ? `-${arg}` : arg;
  });
}
