/** Options of `ocsp`, and which of them contradict each other. */
import { usageError } from '../common/errors.js';
import { ANSWERS, KINDS, readKinds } from './ocsp-kinds.js';

const GROUP = 'OCSP';

/** Certificates of a kind that are issued where --pool does not say. */
export const DEFAULT_POOL = 10;

/** @type {Record<string, import('../common/options.js').OptionSpec>} */
export const options = {
  cert: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    describe: 'Certificate, PEM or DER; a chain file includes its issuer',
    defaultText: 'issue one with --role',
  },
  issuer: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    describe: 'Issuer certificate',
    defaultText: "from --cert, or the mount's CA",
  },
  serials: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    describe: 'Many certificates: from issue --keep, or one serial per line, in seeded order',
  },
  role: {
    type: 'text',
    group: GROUP,
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role to issue certificates with if no file is given',
  },
  cn: {
    type: 'text',
    group: GROUP,
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Common name of issued certificates',
  },
  about: {
    type: 'list',
    group: GROUP,
    placeholder: 'KIND=WEIGHT,...',
    describe: `Kinds by weight: ${Object.keys(KINDS).join(', ')}`,
  },
  pool: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    min: 1,
    max: 100_000,
    describe: 'With --about: good certificates to issue, and as many to revoke',
    defaultText: String(DEFAULT_POOL),
  },
  'revoked-serials': {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    describe: 'With --about: already revoked certificates, as for --serials',
  },
  'ocsp-url': {
    type: 'url',
    group: GROUP,
    placeholder: 'URL',
    describe: 'Any OCSP responder',
    defaultText: 'URL/v1/MOUNT/ocsp',
  },
  'from-aia': {
    type: 'flag',
    group: GROUP,
    describe: "Use the responder in the certificate's AIA",
  },
  method: {
    type: 'choice',
    group: GROUP,
    choices: ['post', 'get', 'auto'],
    default: 'post',
    describe: 'HTTP method; auto is GET for URLs up to 255 bytes (RFC 9919)',
  },
  hash: {
    type: 'choice',
    group: GROUP,
    choices: ['sha1', 'sha256'],
    default: 'sha1',
    describe: 'Hash of the CertID',
  },
  nonce: {
    type: 'flag',
    group: GROUP,
    describe: 'Send a new 32-byte nonce with each request; Vault ignores it',
  },
  expect: {
    type: 'list',
    group: GROUP,
    placeholder: 'ANSWER',
    describe: `Expected status: ${ANSWERS.join(', ')}; with --about KIND=STATUS,...`,
    defaultText: "good; with --about, Vault's",
  },
};

/** @param {Record<string, any>} given */
export function checkOptions(given) {
  const kinds = readKinds(given.about, given.expect);
  const asks = (/** @type {string} */ name) => kinds.some((kind) => kind.name === name);
  const isGiven = given.cert !== null || given.serials !== null;
  const issues = given.about.length > 0 ? asks('good') && !isGiven : !isGiven;
  const revokes = asks('revoked') && given.revokedSerials === null;
  /** @type {[boolean, string, string][]} */
  const clashes = [
    [
      given.cert !== null && given.serials !== null,
      '--cert and --serials are both given.',
      'Give one of them.',
    ],
    [
      given.ocspUrl !== null && given.fromAia,
      '--ocsp-url and --from-aia both name a responder.',
      'Give one of them.',
    ],
    [
      isGiven && revokes,
      `--about asks about revoked certificates, but with ${given.cert !== null ? '--cert' : '--serials'} none is issued, and none that is given is revoked.`,
      'Name some that are revoked already with --revoked-serials, or leave the file out, so that they are issued and revoked.',
    ],
    [
      given.revokedSerials !== null && !asks('revoked'),
      '--revoked-serials is given, but nothing asks about revoked certificates.',
      'Add --about revoked=WEIGHT, or name the file with --serials and --expect revoked.',
    ],
    [
      given.issuer !== null && (issues || revokes),
      `--issuer is given, but ${given.about.length > 0 ? 'certificates to ask about are issued' : 'neither --cert nor --serials'}.`,
      'Name the certificate with --cert, or the serials with --serials (revoked ones with --revoked-serials).',
    ],
    [
      given.pool !== null && (given.about.length === 0 || !(issues || revokes)),
      '--pool is given, but no such certificates are issued.',
      'Leave it out, or ask about some with --about good=WEIGHT,revoked=WEIGHT and without files.',
    ],
  ];
  for (const [clash, message, remedy] of clashes) {
    if (clash) throw usageError('contradiction', message, remedy);
  }
}
