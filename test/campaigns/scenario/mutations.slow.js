import { testMutations } from './mutations.js';

testMutations(10_000);
