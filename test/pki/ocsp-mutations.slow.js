import { checkMutants } from './mutations/check.js';

checkMutants(20_000);
