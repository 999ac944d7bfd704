/** As find-max.test.js, with more searches. */
import { testTheory } from './theory.js';

testTheory(100);
