/** One certificate that does not count, before those that do: what is wrong shows with those, but for what the token may not do. */
import { targetError } from '../../common/errors.js';
import { createQuestioner } from './asker.js';
import { followCertificate } from './certificate.js';

const MOST_WARMING_MS = 2000;

/**
 * @param {object} parts
 * @param {import('./propagation-plan.js').PropagationPlan} parts.plan
 * @param {import('./certificate.js').NodeWatch[]} parts.nodes nothing is counted there
 * @param {import('./certificate.js').Writer} parts.client
 * @param {import('./poller.js').PollClock} parts.clock
 * @param {AbortSignal} parts.stop
 * @returns {Promise<import('./certificate.js').Row>}
 * @throws {import('../../common/errors.js').PkiLoadError} where the token may not issue or not revoke
 */
export async function warm({ plan, nodes, client, clock, stop }) {
  const row = await followCertificate(0, client, {
    plan: { ...plan, giveUpMs: Math.min(plan.giveUpMs, MOST_WARMING_MS) },
    nodes: nodes.map(({ asker }) => ({ asker, answers: {}, counts: { sent: 0, missed: 0, skipped: 0 } })),
    clock,
    onLag: () => {},
    about: createQuestioner().about,
    stop,
  });
  if ([row.failure, row.unrevoked].includes('vault_permission_denied')) throw denied(row, plan);
  return row;
}

/**
 * A token that may not ask `sys/capabilities-self` shows what it may do by doing it.
 *
 * @param {import('./certificate.js').Row} row
 * @param {import('./propagation-plan.js').PropagationPlan} plan
 */
function denied({ left: what }, { target: { mount }, role }) {
  const isIssued = what === 'valid';
  const path = isIssued ? `${mount}/revoke` : `${mount}/issue/${role}`;
  const left = isIssued ? ' The one certificate that was issued to try it stays valid until it expires.' : '';
  return targetError(
    'role_permission_denied',
    `The token may not write to ${path}.${left}`,
    `Use a token whose policy has: path "${path}" { capabilities = ["update"] }.`,
  );
}
