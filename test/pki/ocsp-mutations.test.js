import { checkMutants } from './mutations/check.js';

checkMutants(1000);
