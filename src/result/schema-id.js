/** Value of `schema` in every result file; apart from the schema so that a run need not load its library. */
export const SCHEMA_ID = 'vault-pki-load/result/1';
