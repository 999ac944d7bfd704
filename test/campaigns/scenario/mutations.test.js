import { testMutations } from './mutations.js';

testMutations(250);
