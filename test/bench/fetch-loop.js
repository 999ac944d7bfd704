/**
 * A closed loop like that of small load scripts, for comparison: workers that await `fetch`, read the whole response and
 * check only its HTTP status. Measures no latency. Runs as a separate process.
 */

/**
 * @typedef {object} Job
 * @property {string} url
 * @property {Record<string, string>} headers
 * @property {string} body base64
 * @property {number} concurrency
 */

const { url, headers, body, concurrency, seconds, warmupSeconds } =
  /** @type {Job & {seconds: number, warmupSeconds: number}} */ (JSON.parse(process.argv[2]));
const bytes = Buffer.from(body, 'base64');
const token = process.env.VAULT_TOKEN;
const allHeaders = token === undefined ? headers : { ...headers, 'X-Vault-Token': token };

/** @param {number} forSeconds */
async function load(forSeconds) {
  const count = { succeeded: 0, failed: 0 };
  const start = performance.now();
  const end = start + forSeconds * 1000;
  async function work() {
    while (performance.now() < end) {
      try {
        const response = await fetch(url, { method: 'POST', headers: allHeaders, body: bytes });
        await response.arrayBuffer();
        if (response.ok) count.succeeded++;
        else count.failed++;
      } catch {
        count.failed++;
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return { ...count, elapsedSeconds: (performance.now() - start) / 1000 };
}

const { succeeded: warmup } = await load(warmupSeconds);
process.stdout.write(JSON.stringify({ ...(await load(seconds)), warmup }));
