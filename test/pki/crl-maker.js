/** CRLs put together from parts; each can be replaced, or left out with null. */
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { der, generalizedTime } from './ocsp-builder.js';
import { signed } from './test-ca.js';
/** @import { Issued } from './test-ca.js' */

/**
 * @param {Issued} ca
 * @param {{version?: Buffer | null, inside?: Buffer, outside?: Buffer, issuer?: Buffer, thisUpdate?: Buffer, nextUpdate?: Buffer | null,
 *   entries?: Buffer | null, extensions?: Buffer | null, more?: Buffer}} [parts]
 */
export function crlByHand(
  ca,
  {
    version = der(2, Buffer.from([1])),
    inside = ca.algorithm,
    outside = ca.algorithm,
    issuer = parseCertificate(ca.der).subject,
    thisUpdate = generalizedTime(Date.now()),
    nextUpdate = generalizedTime(Date.now() + 3_600_000),
    entries = null,
    extensions = null,
    more = Buffer.alloc(0),
  } = {},
) {
  const parts = [version, inside, issuer, thisUpdate, nextUpdate, entries, extensions, more];
  return signed(ca, der(0x30, ...parts.filter((part) => part !== null)), outside);
}

/** @param {string | number} serial one octet @param {...Buffer} more */
export function entry(serial, ...more) {
  return der(0x30, der(2, Buffer.from([Number(serial)])), generalizedTime(Date.now() - 5000), ...more);
}
