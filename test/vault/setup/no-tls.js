/** @import { TargetPlan } from '../../../src/vault/environment.js' */

/** A target's TLS with nothing asked for. @type {Readonly<TargetPlan['tls']>} */
export const NO_TLS = Object.freeze({
  caCert: null,
  caPath: null,
  clientCert: null,
  clientKey: null,
  serverName: null,
  skipVerify: false,
});
