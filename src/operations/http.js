/** `http`: any HTTP request, also one that should be refused; the user names the expected statuses. */
import { readFileSync } from 'node:fs';
import { usageError } from '../common/errors.js';
import { failed, passed } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiHeaders, expandName, hasPlaceholder, inGroup, option, sendAlways } from './request-parts.js';

/** @import { Classify, Operation } from './index.js' */

const METHODS = Object.freeze(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'LIST']);

/** Has the shape of a token, so the server looks it up. */
const BAD_TOKEN = 'hvs.vault-pki-load-sends-this-to-be-refused';

/** The connection sets these. */
const OWN_HEADERS = ['connection', 'content-length', 'host', 'transfer-encoding', 'upgrade', 'expect'];

/** @type {Operation} */
export const http = {
  name: 'http',
  unit: 'responses',
  examples: [
    'http --path /v1/sys/seal-status --rate 50 --duration 1m',
    'http --method POST --path /v1/pki_int/issue/web --token bad --body {} --status 403 --rate 10',
    'http --method POST --path /v1/pki_int/ocsp --body garbage --status 400 --rate 10',
  ],
  options: inGroup('Request', {
    method: option.choice(METHODS, 'HTTP method', { default: 'GET' }),
    path: option.text('PATH', 'Path and query; {n} is the request number, {random} a random string', {
      default: '/v1/sys/health',
      check: checkPath,
    }),
    header: option.text("'NAME: VALUE'", 'Header; stored in the result, so nothing secret; repeatable', {
      repeatable: true,
    }),
    body: option.text('TEXT', 'Body; stored in the result, so nothing secret; {n}, {random} work'),
    'body-file': option.file('File with the body'),
    token: option.choice(['own', 'none', 'bad'], 'Your token, none, or an invalid one', { default: 'own' }),
    status: option.list('CODES', 'Statuses that count as success, such as 200,204', { default: '200' }),
    contains: option.text('TEXT', 'Text that the body must contain'),
  }),
  leaves: ({ method, path }) =>
    method === 'GET' || method === 'LIST' ? null : `what ${method} ${path} makes, if anything`,
  outcomes: {
    expected: 'one of the expected statuses, and the body contains the expected text',
    other_status: 'another status than the expected ones',
    other_body: 'an expected status, but the body does not contain the expected text',
  },
  check({ body, bodyFile, status, header, method }) {
    if (body !== null && bodyFile !== null) {
      throw usageError('contradiction', '--body and --body-file are both given.', 'Give one of them.');
    }
    if ((body !== null || bodyFile !== null) && (method === 'GET' || method === 'LIST')) {
      const remedy = 'Add --method POST, or leave the body out.';
      throw usageError('contradiction', `A ${method} request has no body.`, remedy);
    }
    const wrong = status.find((/** @type {string} */ code) => !/^[2-5]\d\d$/.test(code));
    if (wrong !== undefined || status.length === 0) {
      throw usageError(
        'bad_option',
        `--status holds ${JSON.stringify(wrong ?? '')}, which is not an HTTP status from 200 to 599.`,
        'Write it as 200,204 or 403.',
      );
    }
    header.forEach(readHeader);
  },
  async prepare(context) {
    const { token: which, bodyFile } = context.plan.options;
    const fixture = await prepareCalls(context, { withToken: which === 'own' && context.token !== null });
    return { ...fixture, file: bodyFile === null ? null : readBody(bodyFile) };
  },
  createRequester({ options, load: { seed }, target }, { basePath, headers, file }) {
    const { method, path, body, header, token } = options;
    const own = token === 'bad' ? apiHeaders(BAD_TOKEN, target.namespace) : headers;
    const all = { ...own, ...Object.fromEntries(header.map(readHeader)) };
    const build = (/** @type {number} */ index) => ({
      method,
      path: `${basePath}${expandName(path, seed, index)}`,
      headers: all,
      body: file ?? (body === null ? null : expandName(body, seed, index)),
    });
    return [path, body ?? ''].some(hasPlaceholder) ? build : sendAlways(build(0));
  },
  createClassifier({ options: { status: statuses, contains } }) {
    const wanted = new Set(statuses.map(Number));
    const good = contains === null ? passed('expected') : null;
    const byStatus = (/** @type {number} */ status) => (wanted.has(status) ? good : failed('other_status'));
    /** @type {Classify} */
    const classify = (status, body) => {
      const verdict = byStatus(status);
      if (verdict !== null) return verdict;
      const { buffer, byteOffset, byteLength } = body;
      const isThere = Buffer.from(buffer, byteOffset, byteLength).includes(contains);
      return isThere ? passed('expected') : failed('other_body');
    };
    classify.byStatus = byStatus;
    return classify;
  },
};

/** @param {string} text @returns {[name: string, value: string]} */
function readHeader(text) {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):([\t -~]*)$/.exec(text) ?? [];
  if (name === undefined) {
    throw usageError(
      'bad_option',
      `--header is ${JSON.stringify(text.slice(0, 80))}, which is not NAME: VALUE in printable ASCII.`,
      "Write it as 'X-Example: 1'.",
    );
  }
  const lower = name.toLowerCase();
  if (OWN_HEADERS.includes(lower)) {
    throw usageError('bad_option', `--header sets ${lower}, which is the connection's own.`, 'Leave it out.');
  }
  if (lower === 'x-vault-token' || lower === 'authorization') {
    throw usageError(
      'bad_option',
      `--header sets ${lower}, which would be visible to others.`,
      'Use --token own, none or bad.',
    );
  }
  return [lower, value.trim()];
}

/** @param {string} path */
function readBody(path) {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    const message = `--body-file ${path} cannot be read (${code}).`;
    throw usageError('cannot_read', message, 'Check the path.', error);
  }
}

/** RFC 9112, 3.2.1. @param {string} path @param {string} flag */
function checkPath(path, flag) {
  if (/^\/[\x21-\x7e]*$/.test(path) && !path.includes('#')) return;
  throw usageError(
    'bad_option',
    `${flag} is ${JSON.stringify(path.slice(0, 80))}, which is not a path such as /v1/sys/health.`,
    'Begin it with a slash, and percent-encode other characters than printable ASCII.',
  );
}
