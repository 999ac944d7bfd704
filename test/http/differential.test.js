import { compareBehaviours } from './differential.js';

compareBehaviours(500);
