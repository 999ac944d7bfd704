/** `http`: any HTTP request with its expected statuses, which may be refusals. */
import { badValue, rejectIf, usageError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { asBuffer } from '../pki/der.js';
import { failed, isSuccess, passed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { prepareCalls, readInput } from './prepare.js';
import { apiHeaders, expandName, hasPlaceholder, repeatRequest } from './request-parts.js';

/** @import { Classify, Operation } from './index.js' */

const METHODS = Object.freeze(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'LIST']);

/** Formatted like a token, so that the server looks it up. */
const BAD_TOKEN = 'hvs.vault-pki-load-sends-this-to-be-refused';

/** Headers that the connection sets itself. */
const OWN_HEADERS = ['connection', 'content-length', 'host', 'transfer-encoding', 'upgrade', 'expect'];
const SECRET_HEADERS = ['x-vault-token', 'authorization'];

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
    method: option('choice', 'HTTP method', { choices: METHODS, default: 'GET' }),
    path: option('text', 'Path and query; {n} is the request number, {random} a random string', {
      placeholder: 'PATH',
      default: '/v1/sys/health',
      check: checkPath,
    }),
    header: option('text', 'Header; not for secrets, since the result contains it; repeatable', {
      placeholder: "'NAME: VALUE'",
      repeatable: true,
      check: readHeader,
    }),
    body: option('text', 'Body; not for secrets, since the result contains it; {n}, {random} work', {
      placeholder: 'TEXT',
    }),
    'body-file': option('file', 'File with the body'),
    token: option('choice', 'Your token, none, or an invalid one', {
      choices: ['own', 'none', 'bad'],
      default: 'own',
    }),
    status: option('list', 'Statuses that count as success, such as 200,204', {
      placeholder: 'CODES',
      default: '200',
      check: checkStatuses,
    }),
    contains: option('text', 'Text that the body must contain', { placeholder: 'TEXT' }),
  }),
  leaves: ({ method, path }) => (isBodyless(method) ? null : `anything that ${method} ${path} creates`),
  outcomes: {
    expected: 'one of the expected statuses, and the body contains the expected text',
    unexpected_status: 'HTTP 2xx, but another status was expected',
    unexpected_body: 'an expected status, but the body does not contain the expected text',
    ...REFUSAL_OUTCOMES,
  },
  check({ body, bodyFile, method, header }) {
    const names = header.map((/** @type {string} */ one) => readHeader(one)[0]);
    const twice = names.find(
      (/** @type {string} */ name, /** @type {number} */ i) => names.indexOf(name) < i,
    );
    rejectIf(twice !== undefined, `--header ${twice} is given twice.`, 'Join the values, e.g. with a comma.');
    const hasBody = body !== null || bodyFile !== null;
    const isTwice = body !== null && bodyFile !== null;
    rejectIf(isTwice, '--body and --body-file are both given.', 'Use one of them.');
    const remedy = 'Add --method POST, or leave the body out.';
    rejectIf(hasBody && isBodyless(method), `A ${method} request has no body.`, remedy);
  },
  async prepare(context) {
    const { token: tokenKind, bodyFile } = context.plan.options;
    const fixture = await prepareCalls(context, { withToken: tokenKind === 'own' && context.token !== null });
    return { ...fixture, file: bodyFile && new Uint8Array(readInput(bodyFile, '--body-file')) };
  },
  createRequester({ options, load: { seed }, target }, { basePath, headers, file }) {
    const { method, path, body, header, token } = options;
    const base = token === 'bad' ? apiHeaders(BAD_TOKEN, target.namespace) : headers;
    const allHeaders = { ...base, ...Object.fromEntries(header.map(readHeader)) };
    const build = (/** @type {number} */ index) => ({
      method,
      path: `${basePath}${expandName(path, seed, index)}`,
      headers: allHeaders,
      body: file ?? (body === null ? null : expandName(body, seed, index)),
    });
    return [path, body ?? ''].some(hasPlaceholder) ? build : repeatRequest(build(0));
  },
  createClassifier({ options: { status: statuses, contains } }) {
    const accepted = new Set(statuses.map(Number));
    const good = contains === null ? passed('expected') : null;
    const byStatus = (/** @type {number} */ status) => {
      if (accepted.has(status)) return good;
      return isSuccess(status) ? failed('unexpected_status') : refusal(status);
    };
    /** @type {Classify} */
    const classify = (status, body) => {
      const verdict = byStatus(status);
      if (verdict !== null) return verdict;
      return asBuffer(body).includes(contains) ? passed('expected') : failed('unexpected_body');
    };
    classify.byStatus = byStatus;
    return classify;
  },
};

const isBodyless = (/** @type {string} */ method) => method === 'GET' || method === 'LIST';

/** @param {string} text @returns {[name: string, value: string]} */
function readHeader(text) {
  const [, name = '', value = ''] = /^([\w!#$%&'*+.^`|~-]+):([\t -~]*)$/.exec(text) ?? [];
  if (name === '')
    throw badValue('--header', text, 'not NAME: VALUE in printable ASCII', "Write it as 'X-Example: 1'.");
  const lower = name.toLowerCase();
  const refuse = (/** @type {string} */ why, /** @type {string} */ remedy) =>
    usageError('bad_option', `--header sets ${lower}, ${why}.`, remedy);
  if (OWN_HEADERS.includes(lower)) throw refuse('which the connection sets', 'Leave it out.');
  if (SECRET_HEADERS.includes(lower))
    throw refuse('which would be visible to others', 'Use the option token: own, none or bad.');
  return [lower, value.trim()];
}

/** @param {string[]} codes @param {string} flag */
function checkStatuses(codes, flag) {
  const wrong = codes.length === 0 ? '' : codes.find((code) => !/^[2-5]\d\d$/.test(code));
  if (wrong === undefined) return;
  throw badValue(flag, wrong, 'not an HTTP status from 200 to 599', 'Use codes such as 200,204 or 403.');
}

/** RFC 9112, 3.2.1. @param {string} path @param {string} flag */
function checkPath(path, flag) {
  if (/^\/[\x21-\x7e]*$/.test(path) && !path.includes('#')) return;
  const remedy = 'Start it with a slash, and percent-encode everything but printable ASCII.';
  throw badValue(flag, path, 'not a path such as /v1/sys/health', remedy);
}
