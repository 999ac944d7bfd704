/** Module hooks for `node --import`: the whole tool with undici.js in place of its connections. */
import { register } from 'node:module';

const OWN = new URL('../../../src/http/connection.js', import.meta.url).href;
const UNDICI = new URL('./undici.js', import.meta.url).href;
const HOOKS = `
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  // HTTP/2 keeps its own way to connect.
  const isReplaced = resolved.url === ${JSON.stringify(OWN)} && !context.parentURL?.endsWith('/http2-connection.js');
  return isReplaced ? { ...resolved, url: ${JSON.stringify(UNDICI)} } : resolved;
}`;
register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
