import { table as rows } from '../report/layout.js';
export * from '../report/layout.js';
/** @param {string[][]} cells */
export const table = (cells) => rows(cells).flat();
