import { testMutations } from './mutations.js';

testMutations(2000);
