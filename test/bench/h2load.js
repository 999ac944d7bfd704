/** h2load of nghttp2 (Debian's nghttp2-client): HTTP/2, closed loop, one connection; it verifies and checks nothing. */
import { runTimed } from './timed.js';

/** @import { Measured } from './on-vault.js' */

export async function hasH2load() {
  return (await runTimed(['sh', '-c', 'command -v h2load'])).code === 0;
}

/**
 * @param {{url: string, bodyFile: string, contentType: string, streams: number, seconds: number}} job
 * @param {string | null} [cores] as `taskset -c` takes them
 * @returns {Promise<Measured>}
 */
export async function measureH2load({ url, bodyFile, contentType, streams, seconds }, cores = null) {
  const command = [
    ...['h2load', '-c1', `-m${streams}`, '-t1', '--warm-up-time=1', '-D', `${seconds}`],
    ...['-d', bodyFile, '-H', `content-type: ${contentType}`, url],
  ];
  const { stdout, stderr, code, cpuSeconds } = await runTimed(command, { cores });
  const [, perSecond] = /finished in .*?, ([\d.]+) req\/s/.exec(stdout) ?? [];
  const [, good] = /status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx/.exec(stdout) ?? [];
  if (code !== 0 || good === undefined)
    throw new Error(`h2load exited with code ${code}: ${stdout}${stderr}`);
  return { perSecond: Number(perSecond), cpuMs: (cpuSeconds * 1000) / (Number(perSecond) * (seconds + 1)) };
}
