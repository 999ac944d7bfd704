/** The path of any request, as it will stand in the request line. */
import { usageError } from '../common/errors.js';

/**
 * @param {string} path
 * @param {string} flag
 * @throws {import('../common/errors.js').PkiLoadError} where it could not stand there (RFC 9112, 3.2.1)
 */
export function checkPathOf(path, flag) {
  if (/^\/[\x21-\x7e]*$/.test(path) && !path.includes('#')) return;
  throw usageError(
    'bad_option',
    `${flag} is ${JSON.stringify(path.slice(0, 80))}, which is not a path such as /v1/sys/health.`,
    'Begin it with a slash, and percent-encode what is not printable ASCII.',
  );
}
