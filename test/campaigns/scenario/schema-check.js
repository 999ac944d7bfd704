/** What the published JSON Schema of scenarios says of a text. */
import { parseDocument } from 'yaml';
import { compile } from '../../json-schema.js';

/**
 * @param {Record<string, unknown>} schema
 * @returns {(text: string) => string | null} what is wrong with a text, null where nothing is
 */
export function compileForText(schema) {
  const problemIn = compile(schema);
  return (text) => {
    const document = parseDocument(text, { stringKeys: true, logLevel: 'error' });
    if (document.errors.length + document.warnings.length > 0) return 'not YAML';
    return problemIn(document.toJS());
  };
}
