/** A part of a plan (`--shard`) has a share of the requests: whether a requirement is met, only the sum of the parts tells. */
import { partName } from '../plan/shard-part.js';

/**
 * @param {import('../plan/requirements.js').Requirement} requirement
 * @param {Readonly<import('../plan/shard-part.js').ShardPart>} shard
 * @returns {import('./schema.js').RequirementVerdict}
 */
export function deferRequirement({ text, metric, limit }, shard) {
  return {
    text,
    verdict: 'not proven',
    actual: null,
    limit,
    unit: metric === 'rate' ? '/s' : metric === 'errors' ? 'fraction' : 'ms',
    reason: `This is ${partName(shard)} of the plan: vault-pki-load merge judges it on all of them.`,
  };
}
