/** The standard normal distribution. */

/** 95 % quantile. */
export const NORMAL_95 = 1.6448536269514722;

/**
 * P(Z > z) of the standard normal distribution. Below 3: Marsaglia's series (2004) for the area from 0 to z, which
 * loses no digits there; above: Laplace's 1/(z + 1/(z + 2/(z + 3/(z + ...)))), which converges fast there.
 * @param {number} z @returns {number}
 */
export function normalUpperTail(z) {
  if (z < 0) return 1 - normalUpperTail(-z);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z < 3) {
    let [term, area] = [z, z];
    for (let i = 3; term > area * 1e-17; i += 2) {
      term *= (z * z) / i;
      area += term;
    }
    return 0.5 - density * area;
  }
  let fraction = z;
  for (let k = 200; k >= 1; k -= 1) fraction = z + k / fraction;
  return density / fraction;
}
