import { checkCertificateMutants, checkMutants } from './mutations/check.js';

checkMutants(20_000);
checkCertificateMutants(20_000);
