export * from '../report/hard-results.js';
export * from '../report/svg.js';
