import { checkCertificateMutants, checkMutants } from './mutations/check.js';

checkMutants(1000);
checkCertificateMutants(1000);
