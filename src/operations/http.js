/** `http`: any HTTP request, also one that should be refused; the user names the expected statuses. */
import { readFileSync } from 'node:fs';
import { usageError } from '../common/errors.js';
import { prepareCalls } from './prepare.js';
import { apiHeaders, expandName, hasPlaceholder, inGroup } from './request-parts.js';

/** @import { Classify, Operation, Verdict } from './index.js' */
/** @import { CallFixture } from './prepare.js' */

const METHODS = Object.freeze(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'LIST']);
const TOKENS = Object.freeze(['own', 'none', 'bad']);

/** Has the shape of a token, so that the server looks it up. */
const BAD_TOKEN = 'hvs.vault-pki-load-sends-this-to-be-refused';

const options = inGroup('Request', {
  method: { type: 'choice', choices: METHODS, default: 'GET', describe: 'HTTP method' },
  path: {
    type: 'text',
    placeholder: 'PATH',
    default: '/v1/sys/health',
    describe: 'Path and query; {n} is the request number, {random} a random string',
    check: checkPathOf,
  },
  header: {
    type: 'text',
    placeholder: "'NAME: VALUE'",
    repeatable: true,
    describe: 'Header; stored in the result, so nothing secret; repeatable',
  },
  body: {
    type: 'text',
    placeholder: 'TEXT',
    describe: 'Body; stored in the result, so nothing secret; {n}, {random} work',
  },
  'body-file': { type: 'file', placeholder: 'FILE', describe: 'File with the body' },
  token: {
    type: 'choice',
    choices: TOKENS,
    default: 'own',
    describe: 'Your token, none, or an invalid one',
  },
  status: {
    type: 'list',
    placeholder: 'CODES',
    default: '200',
    describe: 'Statuses that count as success, such as 200,204',
  },
  contains: {
    type: 'text',
    placeholder: 'TEXT',
    describe: 'Text that the body must contain',
  },
});

/** The connection sets these. */
const NOT_TO_SET = new Set([
  'connection',
  'content-length',
  'host',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** @typedef {CallFixture & {file: Uint8Array | null}} HttpFixture */

/** @type {Operation} */
export const operation = {
  name: 'http',
  unit: 'responses',
  examples: [
    'http --path /v1/sys/seal-status --rate 50 --duration 1m',
    'http --method POST --path /v1/pki_int/issue/web --token bad --body {} --status 403 --rate 10',
    'http --method POST --path /v1/pki_int/ocsp --body garbage --status 400 --rate 10',
  ],
  options,
  leaves: ({ method, path }) =>
    method === 'GET' || method === 'LIST' ? null : `what ${method} ${path} makes, if anything`,
  outcomes: Object.freeze({
    expected: 'one of the statuses that count as success, and the body holds what it must',
    other_status: 'another status than those that count as success',
    other_body: 'the status is right, but the body does not hold what it must',
  }),
  check({ body, bodyFile, status, header, method }) {
    if (body !== null && bodyFile !== null) {
      throw usageError('contradiction', '--body and --body-file are both given.', 'Give one of them.');
    }
    if ((body !== null || bodyFile !== null) && (method === 'GET' || method === 'LIST')) {
      throw usageError(
        'contradiction',
        `A ${method} request has no body.`,
        'Add --method POST, or leave the body out.',
      );
    }
    const wrong = status.find((/** @type {string} */ code) => !/^[2-5]\d\d$/.test(code));
    if (wrong !== undefined || status.length === 0) {
      throw usageError(
        'bad_option',
        `--status holds ${JSON.stringify(wrong ?? '')}, which is not an HTTP status from 200 to 599.`,
        'Write it as 200,204 or 403.',
      );
    }
    for (const text of header) headerOf(text);
  },
  async prepare(context) {
    const { plan, token } = context;
    const fixture = await prepareCalls(context, {
      withToken: plan.options.token === 'own' && token !== null,
    });
    return { ...fixture, file: fileOf(plan.options.bodyFile) };
  },
  createRequester({ options: given, load: { seed }, target }, { basePath, headers, file }) {
    const { method, path, body, header, token } = given;
    const own = token === 'bad' ? apiHeaders(BAD_TOKEN, target.namespace) : headers;
    const all = { ...own, ...Object.fromEntries(header.map(headerOf)) };
    const build = (/** @type {number} */ index) => ({
      method,
      path: `${basePath}${expandName(path, seed, index)}`,
      headers: all,
      body: file ?? (body === null ? null : expandName(body, seed, index)),
    });
    if ([path, body ?? ''].some(hasPlaceholder)) return build;
    const same = build(0);
    return () => same;
  },
  createClassifier({ options: { status: statuses, contains } }) {
    const wanted = new Set(statuses.map(Number));
    const good = contains === null ? EXPECTED : null;
    const byStatus = (/** @type {number} */ status) => (wanted.has(status) ? good : OTHER_STATUS);
    /** @type {Classify} */
    const classify = (status, body) => {
      const verdict = byStatus(status);
      if (verdict !== null) return verdict;
      const { buffer, byteOffset, byteLength } = body;
      return Buffer.from(buffer, byteOffset, byteLength).includes(contains) ? EXPECTED : OTHER_BODY;
    };
    classify.byStatus = byStatus;
    return classify;
  },
};

/** @type {Verdict} */
const EXPECTED = Object.freeze({ outcome: 'expected', success: true, verification: 'passed' });
/** @type {Verdict} */
const OTHER_STATUS = Object.freeze({ outcome: 'other_status', success: false, verification: 'failed' });
/** @type {Verdict} */
const OTHER_BODY = Object.freeze({ outcome: 'other_body', success: false, verification: 'failed' });

/** @param {string} text @returns {[name: string, value: string]} */
function headerOf(text) {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*([\t -~]*?)\s*$/.exec(text) ?? [];
  if (name === undefined) {
    throw usageError(
      'bad_option',
      `--header is ${JSON.stringify(text.slice(0, 80))}, which is not NAME: VALUE in printable ASCII.`,
      "Write it as 'X-Example: 1'.",
    );
  }
  const lower = name.toLowerCase();
  if (NOT_TO_SET.has(lower)) {
    throw usageError('bad_option', `--header sets ${lower}, which is the connection's own.`, 'Leave it out.');
  }
  if (lower === 'x-vault-token' || lower === 'authorization') {
    throw usageError(
      'bad_option',
      `--header sets ${lower}, which would be visible to others.`,
      'Use --token own, none or bad.',
    );
  }
  return [lower, value];
}

/** @param {string | null} path @returns {Uint8Array | null} */
function fileOf(path) {
  if (path === null) return null;
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    throw usageError(
      'cannot_read',
      `--body-file ${path} cannot be read (${code}).`,
      'Check the path.',
      error,
    );
  }
}

/**
 * @param {string} path
 * @param {string} flag
 * @throws {PkiLoadError} where it could not stand there (RFC 9112, 3.2.1)
 */
export function checkPathOf(path, flag) {
  if (/^\/[\x21-\x7e]*$/.test(path) && !path.includes('#')) return;
  throw usageError(
    'bad_option',
    `${flag} is ${JSON.stringify(path.slice(0, 80))}, which is not a path such as /v1/sys/health.`,
    'Begin it with a slash, and percent-encode other characters than printable ASCII.',
  );
}
