/** Every option wrongly typed, out of range, repeated or contradictory: refused before anything is sent. */
import { after, describe, test } from 'node:test';
import { assertRefused, startBatch } from './support.js';

/** Nothing listens there: an option that is let through ends in exit code 2. */
const env = { VAULT_ADDR: 'http://127.0.0.1:1', VAULT_TOKEN: 'unused' };

const run = startBatch({ after });

const URL_NEEDED =
  /--url is "[^"]+", which is not an http:\/\/, https:\/\/ or unix:\/\/\/PATH address\. Use an address such as http/;
const RATE_NEEDED = /--rate is "[^"]*", which is not a rate above zero, such as 20, 20\/s or 1000\/h\.$/m;
const WHOLE = (/** @type {string} */ flag) => new RegExp(`--${flag} is "[^"]+", which is not a whole number`);
const TIME = (/** @type {string} */ flag) =>
  new RegExp(`--${flag} is "[^"]*", which is not a duration such as`);
const RANGE = (/** @type {string} */ flag, /** @type {string} */ bound) =>
  new RegExp(`--${flag} is "[^"]+"; it must be ${bound}`);
const OPEN_ONLY = (/** @type {string} */ flag) => new RegExp(`${flag} needs an open loop.*Add --rate`);
const EMPTY = (/** @type {string} */ flag) => new RegExp(`--${flag} is empty\\.`);
const TWICE = (/** @type {string} */ flag) => new RegExp(`--${flag} is given 2 times\\. Use it once\\.`);

/** @type {[string, RegExp][]} words of the command line, '' for an empty one; what is said */
const TABLE = [
  ['issue --url ftp://x', URL_NEEDED],
  ['issue --url http://me:secret@x', /--url contains a user name or password(?!.*secret)/],
  ['issue --url http://x/?a=1', /--url has a query or fragment/],
  ['issue --url http://a --vault http://b', TWICE('url')],
  ['ocsp --ocsp-url leaf.pem', /--ocsp-url is "leaf.pem", which is not an http/],
  ['issue --mount ../sys', /--mount is "..\/sys", which is not the path of a mount/],
  ["issue --mount ''", EMPTY('mount')],
  ["issue --role ''", EMPTY('role')],
  ['issue --role a --role b', TWICE('role')],
  ['issue --rate=', RATE_NEEDED],
  ['issue --rate 0', RATE_NEEDED],
  ['issue --rate 0x10', RATE_NEEDED],
  ['issue --rate 1e9', RANGE('rate', 'at most 1000000')],
  ['issue --concurrency 1e9', WHOLE('concurrency')],
  ['issue --concurrency 0', RANGE('concurrency', 'at least 1')],
  ['issue --concurrency 20000', RANGE('concurrency', 'at most 10000')],
  ['issue --duration 5x', TIME('duration')],
  ['issue --duration 0', RANGE('duration', 'at least')],
  ['issue --duration 1e99', RANGE('duration', 'at most')],
  ['issue --requests 0', RANGE('requests', 'at least 1')],
  ['issue --requests 99999999999', RANGE('requests', 'at most')],
  ['issue --requests many', WHOLE('requests')],
  ['issue --rate 5 --arrivals uniform', /--arrivals is "uniform", which is not one of constant, poisson\./],
  ['issue --rate 5 --ramp-up 1y', TIME('ramp-up')],
  ['issue --warmup soon', TIME('warmup')],
  ['issue --rate 5 --overflow wait', /--overflow is "wait", which is not one of queue, drop\./],
  ['issue --arrivals poisson', OPEN_ONLY('--arrivals poisson')],
  ['issue --overflow drop', OPEN_ONLY('--overflow drop')],
  ['issue --ramp-up 3s', OPEN_ONLY('--ramp-up')],
  ['issue --timeout 0', RANGE('timeout', 'at least')],
  ['issue --timeout 2h', RANGE('timeout', 'at most')],
  ['issue --timeout_ms 5s', /--timeout_ms is "5s", which is not a whole number/],
  ['issue --timeout_ms 0', RANGE('timeout_ms', 'at least')],
  ['issue --timeout 5 --timeout_ms 6', /--timeout and --timeout_ms are both given/],
  ['issue --timeout-ms 5 --timeout_ms 6', TWICE('timeout_ms')],
  ['issue --threads 0', RANGE('threads', 'at least 1')],
  ['issue --threads 65 --concurrency 100', RANGE('threads', 'at most 64')],
  ['issue --threads 20', /--threads 20 is more than --concurrency 10.*Raise --concurrency to at least 20\./],
  ['issue --pacing fast', /--pacing is "fast", which is not one of auto, spin, sleep\./],
  ['issue --seed -1', WHOLE('seed')],
  ['issue --seed 4294967296', RANGE('seed', 'at most 4294967295')],
  ['issue --shard 1', /--shard is "1", which is not a part such as 0\/4/],
  ['issue --shard 2/2 --seed 1', /--shard is "2\/2", but parts are numbered from 0\. .*the last 1\/2\./],
  ['issue --shard 0/2', /--shard is given without --seed.*Use the same seed for every part/],
  ['issue --shard 0/2 --seed 1 --dev', /--dev starts a server for this process alone/],
  ['issue --shard 0/2 --shard 1/2 --seed 1', TWICE('shard')],
  ['issue --start-at noon', /--start-at is "noon", which is not a time\. Use a time such as 14:30:00/],
  ['issue --start-at 2020-01-01T00:00:00Z', /--start-at is .* ago by this machine's clock\./],
  ["issue --require ''", EMPTY('require')],
  ['issue --require p99<1ms --require p99>2ms', /p99>2ms and p99<1ms cannot both be met\. Leave one of them/],
  [
    'issue --out -',
    /--out - names no file\. Leave it out: standard output always gets the result, in the format that --format sets/,
  ],
  ['issue --out test', /--out test cannot be written: it is a directory\. Use the name of a file in it\./],
  ['issue --require speed>3', /Requirement "speed>3": "speed" is not a metric; use rate, errors/],
  [
    'issue --require p99<1s --require rate>=fast',
    /Requirement "rate>=fast": the limit is "fast", which is not a rate/,
  ],
  ['issue --format xml', /--format is "xml", which is not one of text, json/],
  ['issue --format text --format json', TWICE('format')],
  ['issue --quiet=yes', /--quiet takes no value, but got "yes"/],
  ['issue --repeat 0', RANGE('repeat', 'at least 1')],
  ['issue --repeat 3 --pause soon', TIME('pause')],
  ['issue --pause 3s', /--pause waits between runs, but there is only one\. Add e\.g\. --repeat 10/],
  ['issue --repeat 3 --out r.prom', /--out r\.prom: a set of runs cannot .* as \.prom.*Use one of \.txt/],
  ['issue --repeat 3 --format hlog', /--format hlog: a set of runs cannot be written as \.hlog/],
  ['issue --repeat 2 --shard 0/2 --seed 1', /--shard is for one run, but --repeat is given\. Leave/],
  ['issue --metrics 70000', /--metrics is "70000", which is not a port/],
  ['issue --metrics here', /--metrics is "here", which is not a port/],
  ['issue --otlp 127.0.0.1:4318', /--otlp is .*not an http:\/\/ or https:\/\/ URL/],
  ['issue --github-summary', /--github-summary is given, but GITHUB_STEP_SUMMARY is not set\./],
  ['issue --dev --url http://x', /--dev starts its own server, but --url names another/],
  ["issue --cn ''", EMPTY('cn')],
  ['issue --cn a\nb', /--cn contains a control character/],
  ["issue --alt-names ''", EMPTY('alt-names')],
  ['issue --ip-sans 10.0.0.1,1.2.3', /--ip-sans is "1.2.3", which is not an IP address/],
  ['issue --ttl 0.5s', RANGE('ttl', 'at least')],
  ['issue --pool 5', /--pool applies to CSRs, but --sign is not given/],
  ['issue --key-type ec-256', /--key-type applies to CSRs, but --sign is not given/],
  ['issue --sign --key-type dsa', /--key-type is "dsa", which is not one of rsa-2048, ec-256, ed25519/],
  ['issue --sign --pool 0', RANGE('pool', 'at least 1')],
  ['ocsp --hash md5', /--hash is "md5", which is not one of sha1, sha256/],
  ['ocsp --method put', /--method is "put", which is not one of post, get, auto/],
  ['ocsp --expect fine', /--expect is "fine", which is not an OCSP status/],
  ['ocsp --cert a --serials b', /--cert and --serials are both given/],
  ['ocsp --issuer a', /--issuer is given, but the certificates to query are issued/],
  ['ocsp --ocsp-url http://x --from-aia', /--ocsp-url and --from-aia both name a responder/],
  ['calibrate --threads 0', /--threads is "0"; it must be at least 1\.$/m],
  ['calibrate --threads 11', /--threads 11 is more than --conc.* Raise --concurrency to at least 11\.$/m],
  ['calibrate --concurrency 0', /--concurrency is "0"; it must be at least 1/],
  ['calibrate --pacing fast', /--pacing is "fast", which is not one of auto, spin, sleep\.$/m],
  ['calibrate --duration 0', /--duration is "0"; it must be at least 100 ms\.$/m],
  ['calibrate --duration 1m', /--duration is "1m"; it must be at most 10 s\.$/m],
  ['calibrate --max-lateness never', /--max-lateness is "never", which is not a duration/],
  ['calibrate --json --format text', /--json and --format text are both given\. Use one of them\.$/m],
  ['calibrate --json=yes', /--json takes no value, but got "yes"/],
  ['dev --port 70000', RANGE('port', 'at most 65535')],
  ['dev --ca-key-type dsa', /--ca-key-type is "dsa", which is not one of rsa, ec/],
  ['dev --host 0.0.0.0', /--allow-remote/],
];

describe('rejected:', () => {
  for (const [line, message] of TABLE) {
    test(line.replace('\n', '\\n'), async () => {
      const words = line.split(' ').map((word) => (word === "''" ? '' : word));
      assertRefused(await run(words, { env }), message);
    });
  }
});

/** @type {[string, Record<string, string>, RegExp][]} */
const ENVIRONMENTS = [
  ['an address without scheme', { VAULT_ADDR: 'vault:8200' }, /in VAULT_ADDR is not an http(?!.*vault:8200)/],
  [
    'a time-out without unit',
    { VAULT_CLIENT_TIMEOUT: 'x' },
    /VAULT_CLIENT_TIMEOUT is "x", which is not a dur/,
  ],
  ['no flag', { VAULT_SKIP_VERIFY: 'maybe' }, /VAULT_SKIP_VERIFY is "maybe", which is neither/],
  ['a token on two lines', { VAULT_TOKEN: 'hvs.a\nb' }, /token in VAULT_TOKEN contains white space(?!.*hvs)/],
  ['a CA file that is missing', { VAULT_CACERT: '/nope.pem' }, /VAULT_CACERT\) \/nope\.pem was not found/],
];

describe('rejected in the environment:', () => {
  for (const [what, changes, message] of ENVIRONMENTS) {
    test(what, async () => assertRefused(await run(['issue'], { env: { ...env, ...changes } }), message));
  }
});
