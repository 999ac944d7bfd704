import { testMutations } from './mutations.js';

testMutations(500);
