export * from '../report/text-histogram.js';
