import { compareBehaviours } from './differential.js';

compareBehaviours(20_000);
