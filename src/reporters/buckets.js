export * from '../report/data/buckets.js';
