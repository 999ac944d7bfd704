import { readFileSync } from 'node:fs';

const packageJson = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** The package's own version. @type {string} */
export const TOOL_VERSION = JSON.parse(packageJson).version;
