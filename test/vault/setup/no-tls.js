/** A target's TLS with nothing asked for. @type {Readonly<import('../../../src/plan/plan.js').TargetPlan['tls']>} */
export const NO_TLS = Object.freeze({
  caCert: null,
  caPath: null,
  clientCert: null,
  clientKey: null,
  serverName: null,
  skipVerify: false,
});
