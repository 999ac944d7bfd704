export * from '../report/describe/words.js';
import { loadNotes } from '../report/describe/words.js';
/** @param {import('../results/schema.js').Result} result */
export const notePhrases = (result) => [...(result.verification.notes ?? []), ...loadNotes(result)];
