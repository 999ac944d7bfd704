/** What a reader of the figures must know. */
import { formatCount, formatLatency } from '../../common/units.js';

/**
 * @param {object} facts
 * @param {Pick<import('./propagation-plan.js').PropagationPlan, 'pollMs' | 'concurrency' | 'target'>} facts.plan
 * @param {Pick<Awaited<ReturnType<typeof import('./prepare.js').prepare>>, 'crl'>} facts.found
 * @param {import('../../result/propagation/propagation-schema.js').Propagation['nodes']} facts.nodes
 * @returns {string[]} sentences
 */
export function notesOf({ plan: { pollMs, concurrency, target }, found: { crl }, nodes }) {
  const perSecond = formatCount(Number(((concurrency * 1000) / pollMs).toPrecision(2)));
  return [
    'A delay is an interval: the revocation took effect after the last request that was still answered good was sent (lower bound), and before the first answer revoked arrived (upper bound). Delays that ended before the revocation was answered count as 0 since the answer.',
    'A revocation was answered when this program had read the head of the answer. Where it read that late, bounds since the answer are too small by as much; what is required counts as met only if it were also on bounds that are longer by the largest lateness of a poll. Bounds since the sending do not depend on it.',
    `Each node was asked every ${formatLatency(pollMs)} about each certificate under way, up to ${perSecond} requests a second: polling is load, too.`,
    'One more certificate was issued and revoked beforehand, lest connections and code that were used for the first time count.',
    rebuildNote(crl, target.mount),
    ...nodes.flatMap(({ url, state }) =>
      state === 'standby'
        ? [
            `${url} is a standby. Vault without Enterprise passes OCSP requests on to the active node, so its answers are the active node's, and take longer by the way there.`,
          ]
        : [],
    ),
  ];
}

/**
 * @param {import('./prepare.js').CrlFacts} crl
 * @param {string} mount
 */
function rebuildNote({ autoRebuild, disabled }, mount) {
  if (autoRebuild === null)
    return `Whether ${mount} rebuilds its CRL by itself (auto_rebuild) could not be seen.`;
  const ocsp = 'OCSP answers do not come from the CRL: Vault looks each certificate up.';
  if (disabled === true) return `${mount} builds no CRL (disable in its config/crl). ${ocsp}`;
  return autoRebuild
    ? `auto_rebuild is on in ${mount}: a revocation does not wait for a new CRL, which is built later. ${ocsp}`
    : `auto_rebuild is off in ${mount}: every revocation builds the CRL anew before it is answered. ${ocsp}`;
}
