/**
 * What is compared with: a closed loop in the way of small load scripts. Workers that each await `fetch`, read the
 * answer to its end and take its HTTP status for the truth; nothing is checked, no time is kept. A process of its own.
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
