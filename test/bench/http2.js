/**
 * HTTP/2 on a real Vault over TLS: OCSP for one certificate, one connection, ten requests in flight, compared with h2load of
 * nghttp2 (Debian's nghttp2-client), which neither verifies the server nor checks responses.
 */
import { hasH2load, measureH2load } from './h2load.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { ocspOf, ourSource } from './on-vault.js';
import { median } from './statistics.js';
import { withVault } from './vault.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Measured } from './on-vault.js' */

const STREAMS = 10;
const GOAL_RATIO = 0.8;

/** @param {Settings} settings @returns {Promise<Report>} */
export function run(settings) {
  return withVault(
    async (vault) => {
      const { url, bodyFile, contentType } = await ocspOf(vault);
      const args = ['ocsp', '--cert', vault.cert, '--issuer', vault.issuer];
      const http2 = [...args, '--http', '2', '--streams', `${STREAMS}`];
      const { seconds } = settings;
      const h2load = { url, bodyFile, contentType, streams: STREAMS, seconds };
      const sources = [
        { ...ourSource(vault, http2, seconds), tool: 'ours, HTTP/2' },
        { ...ourSource(vault, args, seconds), tool: 'ours, HTTP/1.1, 10 connections' },
        ...((await hasH2load()) ? [{ tool: 'h2load', measure: () => measureH2load(h2load) }] : []),
      ];
      const rows = await measureInTurn(sources, settings);
      const perSecond = (/** @type {Measured[]} */ runs) => median(runs.map((one) => one.perSecond));
      const [ours] = rows;
      return {
        question: `OCSP responses/s of a real Vault over TLS on the same machine, closed loop, ${STREAMS} in flight: HTTP/2 on one connection`,
        chart: { column: 'responses/s', named: 1 },
        columns: ['tool', 'responses/s', 'CPU ms each', 'ours / tool', 'goal', 'met'],
        rows: rows.map(({ tool, runs }) => {
          const ratio = median(runs.map((one, i) => ours.runs[i].perSecond / one.perSecond));
          const goal = tool === 'h2load' ? verdictOn(`>= ${GOAL_RATIO}`, ratio >= GOAL_RATIO) : ['', ''];
          const cpuMs = median(runs.map((one) => one.cpuMs));
          return [tool, perSecond(runs), cpuMs, runs === ours.runs ? null : ratio, ...goal];
        }),
        summary: {},
        raw: rows,
      };
    },
    { tls: true },
  );
}
