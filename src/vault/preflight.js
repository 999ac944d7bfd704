/**
 * What is asked before time zero. Each check either returns what it learned or throws one PkiLoadError: a sentence
 * with a remedy and a code of its own. What a token may not look at is reported as not checked, never as wrong.
 */
export { describeFootprint } from './preflight/footprint.js';
export { checkHealth } from './preflight/health.js';
export { checkIssuer, checkMount } from './preflight/mount.js';
export { startRenewal } from './preflight/renewal.js';
export { checkPermission, checkRole } from './preflight/role.js';
export { checkToken } from './preflight/token.js';
