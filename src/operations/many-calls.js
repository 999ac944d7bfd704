/** Many set-up calls of one kind: certificates to issue, secrets to write. */
import { PkiLoadError } from '../common/errors.js';

/**
 * The client has one connection. While a call is under way on it the next one waits; more would wait so long that their time, which counts
 * from when they are asked, could run out.
 */
const AT_ONCE = 2;

/**
 * @param {number} size
 * @param {Pick<import('./index.js').PrepareContext, 'progress' | 'signal'> & {label: string}} context
 * @param {(i: number) => Promise<T>} work
 * @returns {Promise<T[]>} in their order; the first failure, or an interruption, ends the rest
 * @template T
 */
export async function manyCalls(size, { label, progress, signal }, work) {
  /** @type {T[]} */
  const made = new Array(size);
  let [next, done, failed] = [0, 0, false];
  const goOn = async () => {
    while (next < size && !failed) {
      if (signal.aborted) throw new PkiLoadError('interrupted', `${label}: interrupted.`, { exitCode: 130 });
      const i = next++;
      made[i] = await work(i);
      progress(label, ++done, size);
    }
  };
  const orFail = () =>
    goOn().catch((error) => {
      failed = true;
      throw error;
    });
  await Promise.all(Array.from({ length: AT_ONCE }, orFail));
  return made;
}
