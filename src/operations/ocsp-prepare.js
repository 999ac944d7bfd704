/** Prepares `ocsp`: certificates from files, or issued (and revoked) for the run, their issuer and the responder. */
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { targetError, usageError } from '../common/errors.js';
import { isTime } from '../common/json.js';
import { isSocket, readUrl } from '../common/options.js';
import { shuffled } from '../common/random.js';
import { readChunks } from '../common/read-file.js';
import { interruptedError, rejectOnStop } from '../common/stop.js';
import { createRequester, parseTargetUrl } from '../http/request.js';
import { foreignTls } from '../http/tls.js';
import { assertIssued, assertKey, isSignedBy, readCertificates } from '../pki/certificate.js';
import { ocspUrls, parseCertificate } from '../pki/certificate-der.js';
import { decodePem, parseSerial } from '../pki/text.js';
import { checkHealth, checkIssuer, checkMount } from '../vault/check-target.js';
import { redact } from '../vault/redact.js';
import { quoted } from '../vault/setup/command.js';
import { DEFAULT_POOL, kindsToIssue, readKinds } from './ocsp-kinds.js';
import { createRequestSet } from './ocsp-requests.js';
import { issueBefore, makeMany, readInput } from './prepare.js';
import { apiPath, vaultHeaders } from './request-parts.js';
import { saysExpired } from './revoke.js';
/** @import { Request } from '../http/exchange.js' */
/** @import { Certificate } from '../pki/certificate.js' */
/** @import { CertificateFields } from '../pki/certificate-der.js' */
/** @import { Classify, FirstResponse, Fixture, PrepareContext } from './index.js' */
/** @import { OcspFixture } from './ocsp.js' */

/** @typedef {{issuer: Certificate, example: Certificate | null}} Source `example`: one of its certificates */
/** @typedef {Source & {serials: Uint8Array[]}} Found `serials`: INTEGER contents */
/** @typedef {Source & {good: Uint8Array[], revoked: Uint8Array[], hasLeases?: boolean}} Subjects a list is empty if no kind needs it; `hasLeases`: as in Fixture */
/** @typedef {{certificates: Certificate[], name: string}} Issuers */

/** @param {PrepareContext} context @returns {Promise<OcspFixture & {isVault: boolean}>} */
export async function prepare(context) {
  const { plan, client } = context;
  const { options, load, target } = plan;
  const { good, revoked, issuer, example, hasLeases } = await findSubjects(context);
  const { origin, path, isVault, isForeign = false } = findResponder(context, example);
  // This needs no token, so missing permissions do not matter.
  const health = isVault ? await checkHealth(client, { namespace: target.namespace }) : null;
  health?.warnings.forEach(context.warn);
  if (isVault) await checkMount(client, target.mount);
  const common = { issuerDer: new Uint8Array(issuer.der), hash: options.hash, nonce: options.nonce };
  // wrong-issuer uses known serials, if any: a responder that checks only the serial would accept them.
  const knownSerials = good.length === 0 ? revoked : good;
  const serialsOf = { good, revoked, 'never-issued': [], 'wrong-issuer': knownSerials };
  const kinds = readKinds(options.about, options.expect).map((kind) => {
    const serials = serialsOf[kind.name ?? 'good'];
    const order = shuffled(serials.length, load.seed);
    const otherIssuer = kind.name === 'wrong-issuer';
    return { ...kind, requests: createRequestSet({ ...common, serials, order, otherIssuer }) };
  });
  return {
    origin,
    targetUrl: `${origin}${isSocket(origin) ? ':' : ''}${path === '/' ? '' : path}`,
    isForeign,
    target: { product: health?.product ?? null, version: health?.version ?? null },
    path,
    method: options.method,
    issuerDer: common.issuerDer,
    kinds,
    hasLeases,
    headers: isVault ? vaultHeaders(target.namespace) : {},
    isVault,
  };
}

/** @param {PrepareContext} context @returns {Promise<Subjects>} */
export async function findSubjects(context) {
  const { cert, serials, revokedSerials } = context.plan.options;
  const toIssue = kindsToIssue(context.plan.options);
  const fromFile = cert
    ? await readLeaf(context, cert)
    : serials && (await readSerials(context, serials, '--serials'));
  const revokedFromFile = revokedSerials && (await readSerials(context, revokedSerials, '--revoked-serials'));
  const fresh = toIssue.good || toIssue.revoked ? await issueSubjects(context, toIssue) : null;
  /** @type {Source[]} */
  const sources = [fromFile, revokedFromFile, fresh].filter((source) => source !== null);
  const issuer = sources[0]?.issuer ?? (await findIssuers(context)).certificates[0];
  assertKey(issuer, 'The issuer');
  // With the same name and key, a renewed CA certificate yields the same CertIDs.
  const isIssuer = (/** @type {Certificate} */ { subjectDer, spkiBits }) =>
    subjectDer.equals(issuer.subjectDer) && spkiBits.equals(issuer.spkiBits);
  const other = sources.find((source) => !isIssuer(source.issuer))?.issuer;
  if (other !== undefined) {
    const nameOf = (/** @type {Certificate} */ { x509 }) =>
      redact((x509.subject ?? 'unnamed').replace(/\n/g, ', '));
    const keys = nameOf(issuer) === nameOf(other) ? ', whose keys differ' : '';
    const message = `The certificates to query were issued by ${nameOf(issuer)} and by ${nameOf(other)}${keys}.`;
    throw usageError('several_issuers', message, 'Use the certificates of one issuer per run.');
  }
  return {
    good: fromFile?.serials ?? fresh?.good ?? [],
    revoked: revokedFromFile?.serials ?? fresh?.revoked ?? [],
    issuer,
    example: sources.find(({ example }) => example !== null)?.example ?? null,
    hasLeases: fresh?.hasLeases ?? false,
  };
}

/**
 * @param {PrepareContext} context @param {Issuers} [chain] of the certificate's own file
 * @returns {Promise<Issuers>} from --issuer, else the chain, else the mount
 */
async function findIssuers({ plan, client }, chain) {
  const file = plan.options.issuer;
  if (file !== null) return { certificates: readCertificates(readInput(file, '--issuer'), file), name: file };
  if (chain?.certificates.length) return chain;
  const name = `the CA of ${plan.target.mount}`;
  const { pem } = await checkIssuer(client, plan.target.mount);
  return { certificates: readCertificates(Buffer.from(pem), name), name };
}

/** @param {Issuers} issuers @param {Certificate} leaf @param {string} leafName */
function chooseIssuer({ certificates, name }, leaf, leafName) {
  // A CA with a new key may keep its name.
  const named = certificates.filter(({ subjectDer }) => subjectDer.equals(leaf.issuerDer));
  const issuer = named.find((one) => isSignedBy(leaf, one)) ?? named[0] ?? certificates[0];
  assertIssued(leaf, issuer, { leaf: leafName, issuer: name });
  return issuer;
}

/** @param {PrepareContext} context @param {string} file @returns {Promise<Found>} */
async function readLeaf(context, file) {
  const [leaf, ...certificates] = readCertificates(readInput(file, '--cert'), file);
  const issuers = await findIssuers(context, { certificates, name: file });
  return { serials: [leaf.serial], issuer: chooseIssuer(issuers, leaf, file), example: leaf };
}

/** Lines, and MiB of a file of `issue --keep` with as many. */
const [MAX_SERIALS, MAX_MIB] = [1_000_000, 4096];

/**
 * @param {PrepareContext} context @param {string} file JSON lines of `issue --keep`, or one serial per line
 * @param {string} flag that names it @returns {Promise<Found>}
 */
async function readSerials(context, file, flag) {
  /** @type {Issuers | null} */
  let issuers = null;
  /** @type {Uint8Array[]} */
  const serials = [];
  /** @type {Certificate | null} */
  let example = null;
  /** Of the first certificate. @type {Certificate | null} */
  let issuer = null;
  let number = 0;
  for await (const line of readLines(file, flag, context.signal)) {
    if (++number > MAX_SERIALS)
      throw usageError('too_many_serials', `${file} has more than ${MAX_SERIALS} lines.`, 'Split it.');
    if (line === '') continue;
    const place = `${file} line ${number}`;
    const { serial, pem, fields } = parseLine(line, place);
    issuers ??= await findIssuers(context);
    if (pem !== undefined && example === null) {
      [example] = readCertificates(Buffer.from(pem), place);
      issuer = chooseIssuer(issuers, example, file);
    }
    // Vault returns good for serials that it never issued, so all certificates must be from one issuer.
    if (
      fields !== undefined &&
      issuer !== null &&
      !isSignedBy({ ...fields, issuerDer: fields.issuer }, issuer)
    ) {
      const message = `${place} has a certificate that the issuer of the first certificate did not sign.`;
      throw usageError('wrong_issuer', message, 'Use the certificates of one issuer per run.');
    }
    serials.push(serial);
  }
  if (issuers === null)
    throw usageError('no_serials', `${file} contains no serials.`, 'Create it with issue --keep FILE.');
  return { serials, issuer: issuer ?? issuers.certificates[0], example };
}

/** A line of --keep has about 2 kB. */
const MAX_LINE_CHARACTERS = 64 * 1024;

/** @param {string} file @param {string} flag @param {AbortSignal} stop @returns {AsyncGenerator<string>} trimmed; ends at an overlong line */
async function* readLines(file, flag, stop) {
  const decoder = new StringDecoder();
  let rest = '';
  for (const chunk of readChunks(file, `${flag} ${file}`, { maxMiB: MAX_MIB })) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = /** @type {string} */ (lines.pop());
    for (const line of lines) yield line.trim();
    if (rest.length > MAX_LINE_CHARACTERS) break;
    // Lets a signal end the run.
    await setImmediate();
    if (stop.aborted) throw interruptedError();
  }
  const last = rest.length > MAX_LINE_CHARACTERS ? rest : rest.trim();
  if (last !== '') yield last;
}

/** @param {string} line @param {string} place @returns {{serial: Uint8Array, pem?: string, fields?: CertificateFields}} */
function parseLine(line, place) {
  try {
    const kept = line.startsWith('{') ? JSON.parse(line) : { serial: line };
    const serial = parseSerial(kept.serial);
    if (typeof kept.certificate !== 'string') return { serial };
    // readCertificates takes 0.5 ms, and there may be a million lines.
    const fields = parseCertificate(/** @type {Buffer} */ (decodePem(kept.certificate, /^CERTIFICATE$/)));
    if (fields.serial.equals(serial)) return { serial, pem: kept.certificate, fields };
  } catch {
    // Reported below.
  }
  const message = `${place} is neither a serial (1a:2b:...) nor a JSON line with a serial and its certificate.`;
  const remedy = 'Write the file with issue --keep FILE, or one serial per line.';
  throw usageError('bad_serials_file', message, remedy);
}

/** The token must stay valid for this long to issue and revoke the certificates. */
const PREPARING_MS = 60_000;

/** @param {PrepareContext} context @param {ReturnType<typeof kindsToIssue>} toIssue @returns {Promise<Subjects>} */
async function issueSubjects(context, toIssue) {
  const { client, plan } = context;
  const { about, role, pool } = plan.options;
  const perKind = about.length === 0 ? 1 : (pool ?? DEFAULT_POOL);
  const size = perKind * (toIssue.good && toIssue.revoked ? 2 : 1);
  const uses = [toIssue.good && 'to query', toIssue.revoked && 'to revoke at once and query'];
  const listed = uses.filter(Boolean).map((use) => `${perKind} ${use}`);
  const { issued, issuers, hasLeases } = await issueBefore(context, {
    size,
    label: 'Issuing certificates to query',
    subject: `certificates with role ${role}, ${listed.join(' and ')}`,
    ...{ usesBefore: size * 2, usesInRun: false, neededMs: PREPARING_MS },
    revokes: toIssue.revoked,
  });
  const [issuerPem, otherPem] = issuers;
  if (otherPem !== undefined) {
    const message = `The issuer of ${plan.target.mount} changed while the certificates to query were issued.`;
    throw targetError('several_issuers', message, 'Run the command again.');
  }
  const revoked = toIssue.revoked ? issued.slice(-perKind) : [];
  const [example] = readCertificates(Buffer.from(issued[0].certificate), 'a certificate that was issued');
  const [issuer] = readCertificates(Buffer.from(issuerPem), "the issuing CA's certificate");
  await makeMany(revoked.length, { ...context, label: 'Revoking certificates to query' }, async (i) => {
    const { certificate, serial } = revoked[i];
    // By the certificate: Vault does not know the serial if the role has no_store.
    const { data, warnings } = await client.write(`${plan.target.mount}/revoke`, { certificate });
    if (isTime(data?.revocation_time)) return;
    if (saysExpired(warnings)) {
      const expired = `The certificate ${serial} expired before it could be revoked.`;
      throw usageError('already_expired', expired, 'Choose a role with a longer max_ttl, or lower --pool.');
    }
    const message = `The response of ${client.origin} does not confirm that it revoked ${serial}.`;
    const remedy = 'Check with vault write that the mount can revoke certificates of this role.';
    throw targetError('not_revoked', message, remedy);
  });
  return {
    good: toIssue.good ? issued.slice(0, perKind).map(({ serial }) => parseSerial(serial)) : [],
    revoked: revoked.map(({ serial }) => parseSerial(serial)),
    hasLeases,
    issuer,
    example,
  };
}

/** @param {PrepareContext} context @param {Certificate | null} example @returns {{origin: string, path: string, isVault: boolean, isForeign?: boolean}} */
function findResponder({ plan, mayReach }, example) {
  const { options, target } = plan;
  const { ocspUrl, fromAia } = options;
  if (ocspUrl !== null) return { ...placeOf(ocspUrl), isVault: false };
  const vault = parseTargetUrl(target.url);
  if (!fromAia)
    return {
      ...{ origin: vault.origin, path: apiPath(vault.basePath, target.mount, 'ocsp') },
      isVault: true,
    };
  const [url] = example === null ? [] : ocspUrls(example);
  if (url !== undefined) {
    // Never a Unix socket.
    const place = placeOf(readUrl(url, 'The OCSP responder in the certificate'));
    const { origin } = place;
    const isForeign = origin !== vault.origin;
    if (!isForeign || mayReach(origin)) return { ...place, isVault: false, isForeign };
    const message = `The certificate names the OCSP responder ${origin}, an address that the scenario may not use.`;
    throw usageError('address_not_allowed', message, `To allow it, add --allow-url ${quoted(origin)}.`);
  }
  const needed = '--from-aia needs a certificate, but --serials has only serials.';
  const message = example === null ? needed : 'The certificate names no OCSP responder.';
  const remedy = 'Set --ocsp-url to its URL; in Vault, set config/urls before issuing certificates.';
  throw usageError('no_aia', message, remedy);
}

/** With a slash at its end, if the URL has one (RFC 6960, A.1). @param {string} url */
function placeOf(url) {
  const { origin, pathname } = new URL(url);
  return { origin, path: pathname };
}

/** Outcomes that even an overloaded OCSP responder never produces. */
const REFUSED = ['bad_request', 'permission_denied', 'not_found', 'redirected', 'http_error'];

/** A first response may take longer than the load's timeout. */
const MIN_TIMEOUT_MS = 5000;
/** In remedies, where a responder's address comes from. */
const AIA = "the certificate's AIA (or set --ocsp-url instead of --from-aia)";
/** Longer responses are not used for the warm-up, to save memory and time. */
const MAX_WARM_UP_BYTES = 16 * 1024;

/**
 * Sends one request before the run. Throws if the server is not a responder; the run counts other wrong responses.
 * @param {PrepareContext} context @param {Fixture} fixture
 * @param {{request: Request, classify: Classify, meanings: Readonly<Record<string, string>>}} first
 * @returns {Promise<FirstResponse | null>} null: too long for the warm-up
 */
export async function probe(context, { origin, targetUrl, isForeign }, { request, classify, meanings }) {
  const { plan, tls, warn, signal } = context;
  const timeoutMs = Math.max(plan.load.timeoutMs, MIN_TIMEOUT_MS);
  const ownTls = isForeign ? foreignTls(tls) : tls;
  const { ocspUrl } = plan.options;
  const urlOption = ocspUrl === null ? AIA : '--ocsp-url';
  const requester = createRequester({ origin, tls: ownTls, timeoutMs, urlOption });
  try {
    const sent = request.body === null ? undefined : Buffer.from(request.body);
    const { status, body } = await rejectOnStop(requester.request({ ...request, body: sent }), signal);
    const { outcome, success } = classify(status, body, 0);
    if (outcome === 'not_ocsp' || REFUSED.includes(outcome)) {
      const message = `${targetUrl} responded to an OCSP request with HTTP ${status} and no OCSP response.`;
      const remedy = `Check ${urlOption}: it must be the complete URL of the responder.`;
      throw targetError('not_an_ocsp_responder', message, remedy);
    }
    if (!success)
      warn(`The responder's first response is not as expected: ${outcome} (${meanings[outcome]}).`);
    return body.length > MAX_WARM_UP_BYTES ? null : { status, body };
  } finally {
    await requester.close();
  }
}
