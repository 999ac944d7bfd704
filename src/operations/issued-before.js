/** Certificates that are issued before a run, to be revoked or asked about in it. */
import { targetError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { longestRunMs } from '../plan/expected.js';
import { certificateParameters } from './issuance.js';
import { manyCalls } from './many-calls.js';
import { expandName } from './names.js';

const HOUR_MS = 3_600_000;

/** Of certificates for a run whose length is not known. */
const LONG_MS = 24 * HOUR_MS;

/** @typedef {{serial: string, certificate: string, issuingCa: string}} IssuedBefore `serial` as Vault writes it; PEM */

/**
 * Short-lived, so that storage and CRL can be tidied soon.
 *
 * @param {import('../plan/plan.js').LoadPlan} load
 * @returns {number} a lifetime that outlasts the run
 */
export function lifetimeMs(load) {
  const runMs = longestRunMs(load);
  return runMs === null ? LONG_MS : runMs + HOUR_MS;
}

/** @param {import('../plan/plan.js').LoadPlan} load */
export function describeLifetime(load) {
  return `for ${formatDuration(lifetimeMs(load))}, or as the role limits it`;
}

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {{size: number, label: string}} what `label` for its progress
 * @returns {Promise<IssuedBefore[]>} with --role and --cn
 */
export async function issueBefore({ client, plan, progress, signal }, { size, label }) {
  const { role, cn } = plan.options;
  const ttlMs = lifetimeMs(plan.load);
  return manyCalls(size, { label, progress, signal }, async (i) => {
    const commonName = expandName(cn, plan.load.seed, i);
    const asked = certificateParameters({ commonName, altNames: [], ipSans: [], ttlMs });
    const { data } = await client.write(`${plan.target.mount}/issue/${role}`, asked);
    const { serial_number: serial, certificate, issuing_ca: issuingCa } = data ?? {};
    if ([serial, certificate, issuingCa].every((text) => typeof text === 'string')) {
      return { serial, certificate, issuingCa };
    }
    throw targetError(
      'not_issued',
      `${client.origin} was asked for a certificate, and answered without one.`,
      'Check with vault write what the role issues.',
    );
  });
}

/**
 * By the certificate itself: one that a role with no_store issued is not known by its serial.
 *
 * @param {import('./index.js').PrepareContext} context
 * @param {IssuedBefore[]} issued
 */
export async function revokeBefore({ client, plan, progress, signal }, issued) {
  const label = 'Revoking certificates to ask about';
  await manyCalls(issued.length, { label, progress, signal }, async (i) => {
    const { certificate, serial } = issued[i];
    const { data } = await client.write(`${plan.target.mount}/revoke`, { certificate });
    if (data?.revocation_time > 0) return;
    throw targetError(
      'not_revoked',
      `${client.origin} was asked to revoke ${serial}, and did not say that it is revoked.`,
      'Check with vault write that the mount revokes what the role issues.',
    );
  });
}
