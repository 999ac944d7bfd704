// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of scenarios
/** Scenarios that are wrong, each in one way, with all that is said of it. */

/**
 * @typedef {object} Broken
 * @property {string} why
 * @property {string} text of the file, which is called `s.yaml`
 * @property {string} says message and remedy
 * @property {Record<string, string>} [env]
 * @property {true} [looksRight] a schema cannot know it: a rule between several places, or of what a text says
 */

const MIX = 'mix: [{operation: issue}]\n';
const HEAD = `name: n\n${MIX}`;
/** @param {string} options @param {string} [operation] */
const entry = (options, operation = 'issue') =>
  `name: n\nmix: [{operation: ${operation}, options: {${options}}}]\n`;
/** @param {string} stages @param {string} [more] */
const staged = (stages, more = '') => `${HEAD}${more}stages: [${stages}]\n`;
export const TOKEN = `hvs.${'CAESIJ1x'.repeat(4)}`;

/** @type {Broken[]} */
export const BROKEN = [
  // Not YAML.
  {
    why: 'an empty file',
    text: '',
    says: 's.yaml:1:1: There is nothing in it. The least is name: NAME and mix: [{operation: issue}].',
  },
  {
    why: 'comments alone',
    text: '# nothing\n',
    says: 's.yaml:1:1: There is nothing in it. The least is name: NAME and mix: [{operation: issue}].',
  },
  {
    why: 'a tab',
    text: `${HEAD}load:\n\trate: 5\n`,
    says: 's.yaml:4:1: A tab indents this line: "\\trate: 5". YAML is indented by spaces; put two for each tab.',
  },
  {
    why: 'a bracket that is not closed',
    text: 'name: n\nmix: [{operation: issue}\n',
    says: 's.yaml:3:1: There is no closing ] up to the end of the file. A scenario is YAML, or JSON.',
  },
  {
    why: 'a quote that is not closed',
    text: 'name: "n\nmix: [{operation: issue}]\n',
    says: 's.yaml:3:1: There is no closing " up to the end of the file. A scenario is YAML, or JSON.',
  },
  {
    why: 'a key twice',
    text: `${HEAD}name: m\n`,
    says: 's.yaml:3:1: name is there a second time: "name: m". Leave one of them out.',
  },
  {
    why: 'a colon in a plain text',
    text: `name: a: b\n${MIX}`,
    says: 's.yaml:1:7: Something with a colon or a dash stands where only a value may: "name: a: b". Put the value in quotes, or on lines of its own, indented.',
  },
  {
    why: 'a line that has no key',
    text: `name: n\njust words\n${MIX}`,
    says: 's.yaml:2:1: This is no KEY: VALUE: "just words". Write a colon and a space behind the key.',
  },
  {
    why: 'a line at the wrong depth',
    text: `${HEAD}load:\n    rate: 5\n  duration: 10s\n`,
    says: 's.yaml:5:1: This line is indented by too little or too much: "  duration: 10s". Line it up with those it belongs to.',
  },
  {
    why: 'a percent sign first',
    text: `name: %n\n${MIX}`,
    says: 's.yaml:1:7: A text may not begin like this: "name: %n". Put it in quotes.',
  },
  {
    why: 'an unknown tag',
    text: `name: !n m\n${MIX}`,
    says: 's.yaml:1:7: A tag is not known: "name: !n m". Put a text that begins with ! in quotes.',
  },
  {
    why: 'two documents',
    text: `${HEAD}---\n${HEAD}`,
    says: 's.yaml:3:1: A second document begins here (---): "---". Write each scenario into a file of its own.',
  },
  {
    why: 'an alias of nothing',
    text: `name: *n\n${MIX}`,
    says: 's.yaml:1:7: The alias *n stands for nothing. Mark what it stands for with &NAME, above it; or put the text in quotes.',
  },
  {
    why: 'an alias bomb',
    text: `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
    says: 's.yaml:2:8: Aliases stand for each other, or for more than can be read. Write it without so many aliases.',
  },
  {
    why: 'an alias of what it stands in',
    text: `name: n\nmix: &m [*m]\n`,
    says: 's.yaml:2:10: An alias stands for what it is in. Write it without it.',
  },
  {
    why: 'a merge key',
    text: `name: n\nload: &l {rate: 5}\nruns: [{name: r, load: {<<: *l}}]\n${MIX}`,
    says: 's.yaml:3:25: runs[0].load.<<: not known here. Merge keys (<<) are of YAML 1.1: repeat what they stand for, or use an alias for the whole. Known here: model, rate, concurrency, duration, requests, arrivals, ramp-up, warmup, overflow, timeout, timeout_ms, threads, pacing, cold-start, seed.',
  },
  {
    why: 'a list as a key',
    text: `name: n\n? [a, b]\n: c\n${MIX}`,
    says: 's.yaml:2:3: A key here is not a text: "? [a, b]". Write it as KEY: VALUE.',
  },
  {
    why: 'a comma missing in JSON',
    text: '{"name": "n"\n "mix": [{"operation": "issue"}]}',
    says: 's.yaml:2:2: This cannot be read: " \\"mix\\": [{\\"operation\\": \\"issue\\"}]}" (Missing , between flow map items). A scenario is YAML, or JSON.',
  },
  {
    why: 'a brace missing in JSON',
    text: '{"name": "n",\n "mix": [{"operation": "issue"}]',
    says: 's.yaml:2:33: There is no closing } up to " \\"mix\\": [{\\"operation\\": \\"issue\\"}]". A scenario is YAML, or JSON.',
  },
  {
    why: 'a bad escape in JSON',
    text: '{"name": "C:\\q", "mix": [{"operation": "issue"}]}',
    says: 's.yaml:1:13: An escape in this text is not known: "{\\"name\\": \\"C:\\\\q\\", \\"mix\\": [{\\"operation\\": \\"issue\\"}]}". Write \\\\ for a backslash, or use single quotes.',
  },
  {
    why: 'a binary file',
    text: '\u007fELF\u0002\u0001\u0001\u0000\u0000',
    says: 's.yaml: It is not text in UTF-8. A scenario is a YAML or JSON file; save it as UTF-8.',
  },
  {
    why: 'bytes that are not UTF-8',
    text: `name: caf\ufffd\n${MIX}`,
    says: 's.yaml: It is not text in UTF-8. A scenario is a YAML or JSON file; save it as UTF-8.',
  },
  {
    why: 'a file as long as a result',
    text: `# ${'x'.repeat(200_000)}\n`,
    says: 's.yaml: It has 200003 characters, and 100000 are the most. A result is read by report; a scenario is far shorter.',
  },
  {
    why: 'nesting without end',
    text: `name: ${'['.repeat(50_000)}`,
    says: 's.yaml: It is nested too deeply to be read. Write it flatter.',
  },

  // Of the wrong kind.
  {
    why: 'a list at the top',
    text: '- name: n\n',
    says: 's.yaml:1:1: is a list, not a group of settings. The least is name: NAME and mix: [{operation: issue}].',
  },
  {
    why: 'a text at the top',
    text: 'issue\n',
    says: 's.yaml:1:1: is "issue", not a group of settings. The least is name: NAME and mix: [{operation: issue}].',
  },
  {
    why: 'a name that is a number',
    text: `name: 12\n${MIX}`,
    says: 's.yaml:1:7: name: is 12, not a text. Put it in quotes.',
  },
  { why: 'an empty name', text: `name: ''\n${MIX}`, says: 's.yaml:1:7: name: is empty.' },
  {
    why: 'a name with a line break',
    text: `name: "a\\nb"\n${MIX}`,
    says: 's.yaml:1:7: name: is "a\\nb", which holds a line break or another control character.',
  },
  { why: 'no name', text: MIX, says: 's.yaml:1:1: name: is missing.' },
  {
    why: 'no mix',
    text: 'name: n\n',
    says: 's.yaml:1:1: there is no mix for "n": nothing says what to send. Write mix: [{operation: issue}].',
  },
  {
    why: 'an empty mix',
    text: 'name: n\nmix: []\n',
    says: 's.yaml:2:6: mix: is empty; there must be at least one.',
  },
  {
    why: 'a mix without a value',
    text: 'name: n\nmix:\nrepeat: 2\n',
    says: 's.yaml:2:1: mix: is empty. It is to be a list.',
  },
  {
    why: 'a mix that is no list',
    text: 'name: n\nmix:\n  operation: issue\n',
    says: 's.yaml:3:3: mix: is a group of settings, not a list.',
  },
  {
    why: 'an entry that is a word',
    text: 'name: n\nmix: [issue]\n',
    says: 's.yaml:2:7: mix[0]: is "issue", not a group of settings.',
  },
  {
    why: 'an entry without operation',
    text: 'name: n\nmix: [{weight: 1}]\n',
    says: 's.yaml:2:7: mix[0].operation: is missing.',
  },

  // Keys.
  {
    why: 'an unknown key',
    text: `${HEAD}requires: ['p99<1s']\n`,
    says: 's.yaml:3:1: requires: not known here. Did you mean require? Known here: name, description, env, setup, target, targets, load, mix, stages, require, runs, repeat, pause, out.',
  },
  {
    why: 'an option of the load at the top',
    text: `${HEAD}rate: 5\n`,
    says: 's.yaml:3:1: rate: not known here. It belongs into load. Known here: name, description, env, setup, target, targets, load, mix, stages, require, runs, repeat, pause, out.',
  },
  {
    why: 'an option of the target in the load',
    text: `${HEAD}load: {mount: pki}\n`,
    says: 's.yaml:3:8: load.mount: not known here. It belongs into target. Known here: model, rate, concurrency, duration, requests, arrivals, ramp-up, warmup, overflow, timeout, timeout_ms, threads, pacing, cold-start, seed.',
  },
  {
    why: 'a slip in the load',
    text: `${HEAD}load:\n  raet: 5\n`,
    says: 's.yaml:4:3: load.raet: not known here. Did you mean rate? Known here: model, rate, concurrency, duration, requests, arrivals, ramp-up, warmup, overflow, timeout, timeout_ms, threads, pacing, cold-start, seed.',
  },
  {
    why: 'another name of the address',
    text: `${HEAD}target: {address: 'http://x'}\n`,
    says: 's.yaml:3:10: target.address: not known here. It is called url. Known here: url, mount, namespace, ca-cert, ca-path, client-cert, client-key, tls-server-name, tls-skip-verify, token-env.',
  },
  {
    why: 'a token in the target',
    text: `${HEAD}target: {token: root}\n`,
    says: 's.yaml:3:10: target.token: not known here. A token is a secret and not for files: token-env names the environment variable that holds it. Known here: url, mount, namespace, ca-cert, ca-path, client-cert, client-key, tls-server-name, tls-skip-verify, token-env.',
  },
  {
    why: 'dev in the target',
    text: `${HEAD}target: {dev: true}\n`,
    says: 's.yaml:3:10: target.dev: not known here. The embedded server is asked for on the command line, --dev. Known here: url, mount, namespace, ca-cert, ca-path, client-cert, client-key, tls-server-name, tls-skip-verify, token-env.',
  },
  {
    why: 'a slip in an entry',
    text: 'name: n\nmix: [{operation: issue, wieght: 1}]\n',
    says: 's.yaml:2:26: mix[0].wieght: not known here. Did you mean weight? Known here: operation, name, weight, options, require.',
  },
  {
    why: 'an option beside the operation',
    text: 'name: n\nmix: [{operation: issue, role: web}]\n',
    says: 's.yaml:2:26: mix[0].role: not known here. What the operation is told stands in options. Known here: operation, name, weight, options, require.',
  },
  {
    why: 'a slip in a stage',
    text: staged('{hodl: {rate: 5, duration: 1s}}'),
    says: 's.yaml:3:11: stages[0].hodl: not known here. Did you mean hold? Known here: name, hold, soak, ramp, steps, burst, spike, require.',
  },
  {
    why: 'a slip in a shape',
    text: staged('{hold: {rate: 5, length: 1s}}'),
    says: 's.yaml:3:27: stages[0].hold.length: not known here. Known here: rate, concurrency, duration.',
  },
  {
    why: 'a slip in the set-up',
    text: `${HEAD}setup: {nmae: load}\n`,
    says: 's.yaml:3:9: setup.nmae: not known here. Did you mean name? Known here: name, ca-key-type, auto-rebuild, with, keep.',
  },
  {
    why: 'a slip in a run',
    text: `name: n\nruns: [{name: r, mixes: []}]\n`,
    says: 's.yaml:2:18: runs[0].mixes: not known here. Did you mean mix? Known here: name, load, mix, stages, require.',
  },
  {
    why: 'a part of a plan',
    text: `${HEAD}load: {shard: 0/2}\n`,
    says: 's.yaml:3:8: load.shard: not known here. It is given on the command line, --shard: another part on each machine. Known here: model, rate, concurrency, duration, requests, arrivals, ramp-up, warmup, overflow, timeout, timeout_ms, threads, pacing, cold-start, seed.',
  },
  {
    why: 'a name of every object as key',
    text: `${HEAD}constructor: 1\n`,
    says: 's.yaml:3:1: constructor: not known here. Known here: name, description, env, setup, target, targets, load, mix, stages, require, runs, repeat, pause, out.',
  },

  // Values.
  {
    why: 'a rate in words',
    text: `${HEAD}load:\n  rate: fast\n`,
    says: 's.yaml:4:9: load.rate: is "fast", which is not a rate above zero such as 20, 20/s or 1000/h.',
  },
  {
    why: 'a rate of 0',
    text: `${HEAD}load: {rate: 0}\n`,
    says: 's.yaml:3:14: load.rate: is "0", which is not a rate above zero such as 20, 20/s or 1000/h.',
  },
  {
    why: 'a rate below 0',
    text: `${HEAD}load: {rate: -5}\n`,
    says: 's.yaml:3:14: load.rate: is "-5", which is not a rate above zero such as 20, 20/s or 1000/h.',
  },
  {
    why: 'a rate that is not a number',
    text: `${HEAD}load: {rate: .nan}\n`,
    says: 's.yaml:3:14: load.rate: is NaN, not a finite number.',
  },
  {
    why: 'a huge rate',
    text: `${HEAD}load: {rate: 1e300}\n`,
    says: 's.yaml:3:14: load.rate: is "1e+300", which is not a rate above zero such as 20, 20/s or 1000/h.',
    looksRight: true,
  },
  {
    why: 'a rate without end',
    text: `${HEAD}load: {rate: 1e999}\n`,
    says: 's.yaml:3:14: load.rate: is Infinity, not a finite number.',
  },
  {
    why: 'a duration of another unit',
    text: `${HEAD}load: {duration: 3 weeks}\n`,
    says: 's.yaml:3:18: load.duration: is "3 weeks", which is not a duration such as 30s, 500ms, 2m or 1h.',
  },
  {
    why: 'a duration of 0',
    text: `${HEAD}load: {duration: 0}\n`,
    says: 's.yaml:3:18: load.duration: is "0"; it must be at least 1 ms.',
    looksRight: true,
  },
  {
    why: 'a list for a duration',
    text: `${HEAD}load: {duration: [10s]}\n`,
    says: 's.yaml:3:18: load.duration: is a list, not a number or a text.',
  },
  {
    why: 'half a connection',
    text: `${HEAD}load: {concurrency: 2.5}\n`,
    says: 's.yaml:3:21: load.concurrency: is "2.5", which is not a whole number. Write it in digits, e.g. 10.',
  },
  {
    why: 'no connection',
    text: `${HEAD}load: {concurrency: 0}\n`,
    says: 's.yaml:3:21: load.concurrency: is "0"; it must be at least 1.',
    looksRight: true,
  },
  {
    why: 'an unknown choice',
    text: `${HEAD}load: {rate: 5, arrivals: possion}\n`,
    says: 's.yaml:3:27: load.arrivals: is "possion", not one of constant, poisson. Did you mean poisson?',
  },
  {
    why: 'an unknown model',
    text: `${HEAD}load: {model: opened}\n`,
    says: 's.yaml:3:15: load.model: is "opened", not one of open, closed. Did you mean open?',
  },
  {
    why: 'an address without http',
    text: `${HEAD}target:\n  url: vault.example.com\n`,
    says: 's.yaml:4:8: target.url: is "vault.example.com", which is not an http:// or https:// address. Write it as http://127.0.0.1:8200.',
    looksRight: true,
  },
  {
    why: 'a password in the address',
    text: `${HEAD}target: {url: 'https://u:p4ssw0rd@vault'}\n`,
    says: 's.yaml:3:15: target.url: holds a user name or password, which would be visible to others. Leave them out.',
    looksRight: true,
  },
  {
    why: 'a mount that is no path',
    text: `${HEAD}target: {mount: ../sys}\n`,
    says: 's.yaml:3:17: target.mount: is "../sys", which is not a path such as pki_int. Give the path that `vault secrets list` shows.',
    looksRight: true,
  },
  {
    why: 'a token-env that is no name',
    text: `${HEAD}target: {token-env: $TOKEN}\n`,
    says: 's.yaml:3:21: target.token-env: is "$TOKEN", which is not the name of an environment variable.',
  },
  {
    why: 'yes for true',
    text: `${HEAD}target: {tls-skip-verify: yes}\n`,
    says: 's.yaml:3:27: target.tls-skip-verify: is "yes", not true or false.',
  },
  {
    why: 'a weight of 0',
    text: 'name: n\nmix: [{operation: issue, weight: 0}]\n',
    says: 's.yaml:2:34: mix[0].weight: is 0; it must be more than 0.',
  },
  {
    why: 'a weight below 0',
    text: 'name: n\nmix:\n  - operation: issue\n    weight: -1\n',
    says: 's.yaml:4:13: mix[0].weight: is -1; it must be more than 0.',
  },
  {
    why: 'a weight in words',
    text: 'name: n\nmix: [{operation: issue, weight: half}]\n',
    says: 's.yaml:2:34: mix[0].weight: is "half", not a number.',
  },
  {
    why: 'an unknown operation',
    text: 'name: n\nmix: [{operation: isue}]\n',
    says: 's.yaml:2:19: mix[0].operation: is "isue", not one of issue, sign, sign-verbatim, revoke, ocsp, crl, ca-chain, approle-login, kv-write, kv-read, transit, token-lookup, health, http. Did you mean issue?',
  },
  {
    why: 'a name of every object as operation',
    text: 'name: n\nmix: [{operation: toString}]\n',
    says: 's.yaml:2:19: mix[0].operation: is "toString", not one of issue, sign, sign-verbatim, revoke, ocsp, crl, ca-chain, approle-login, kv-write, kv-read, transit, token-lookup, health, http.',
  },
  {
    why: 'an unknown option of an operation',
    text: entry('rol: web'),
    says: 's.yaml:2:36: mix[0].options.rol: not known here. Did you mean role? Known here: role, cn, alt-names, ip-sans, ttl, sign, key-type, pool, keep.',
  },
  {
    why: "another operation's option",
    text: entry('role: web', 'crl'),
    says: 's.yaml:2:34: mix[0].options.role: not known here; there is nothing to be set.',
  },
  {
    why: 'a group for a text',
    text: entry('cn: {a: 1}'),
    says: 's.yaml:2:40: mix[0].options.cn: is a group of settings, not a text.',
  },
  {
    why: 'a number for a text',
    text: entry('cn: 007'),
    says: 's.yaml:2:40: mix[0].options.cn: is 7, not a text. Put it in quotes.',
  },
  {
    why: 'an option twice, in both spellings',
    text: entry('alt-names: a, altNames: b'),
    says: 's.yaml:2:50: mix[0].options.altNames: is alt-names, which is there already. Leave one of them out.',
    looksRight: true,
  },
  {
    why: 'an unknown choice of an operation',
    text: entry('kv-version: 3', 'kv-write'),
    says: 's.yaml:2:51: mix[0].options.kv-version: is 3, not one of 1, 2.',
  },
  {
    why: 'too few',
    text: entry('pool: 0', 'sign'),
    says: 's.yaml:2:41: mix[0].options.pool: is "0"; it must be at least 1.',
    looksRight: true,
  },
  {
    why: 'a requirement without a unit',
    text: `${HEAD}require: ['p99<200']\n`,
    says: "s.yaml:3:11: require[0]: Requirement \"p99<200\": the limit \"200\" has no unit; say 200ms or 200s. Examples: 'rate>=1000/h', 'p99<200ms', 'p95(service)<50ms', 'errors<0.1%', 'max<2s'.",
    looksRight: true,
  },
  {
    why: 'a requirement of what cannot be measured',
    text: `${HEAD}require:\n  - errors<1%\n  - speed>5\n`,
    says: "s.yaml:5:5: require[1]: Requirement \"speed>5\": \"speed\" cannot be measured; use rate, errors, min, mean, max, or a percentile such as p50, p99, p99.9. Examples: 'rate>=1000/h', 'p99<200ms', 'p95(service)<50ms', 'errors<0.1%', 'max<2s'.",
    looksRight: true,
  },
  {
    why: 'a requirement that is a number',
    text: `${HEAD}require: [99]\n`,
    says: 's.yaml:3:11: require[0]: is 99, not a text. Put it in quotes.',
  },
  {
    why: 'a requirement of an operation',
    text: "name: n\nmix: [{operation: issue, require: ['p101<1s']}]\n",
    says: "s.yaml:2:36: mix[0].require[0]: Requirement \"p101<1s\": \"p101\" is not a percentile between 0 and 100; write p50, p99, p99.9 or p999. Examples: 'rate>=1000/h', 'p99<200ms', 'p95(service)<50ms', 'errors<0.1%', 'max<2s'.",
    looksRight: true,
  },
  {
    why: 'a requirement of a stage',
    text: staged("{hold: {rate: 5, duration: 1s}, require: ['p99=1s']}"),
    says: "s.yaml:3:52: stages[0].require[0]: Requirement \"p99=1s\": \"=\" is not a comparison; use <, <=, > or >=. Examples: 'rate>=1000/h', 'p99<200ms', 'p95(service)<50ms', 'errors<0.1%', 'max<2s'.",
    looksRight: true,
  },
  {
    why: 'a file for results without extension',
    text: `${HEAD}out: [a.json, result]\n`,
    says: 's.yaml:3:15: out[1]: "result" has no extension, so what to write is not known. Use one of .txt, .json, .html, .md, .xml, .csv, .hlog, .hgrm, .prom.',
    looksRight: true,
  },
  { why: 'no repeat', text: `${HEAD}repeat: 0\n`, says: 's.yaml:3:9: repeat: is 0; it must be at least 1.' },
  {
    why: 'half a repeat',
    text: `${HEAD}repeat: 2.5\n`,
    says: 's.yaml:3:9: repeat: is 2.5, not a whole number.',
  },
  {
    why: 'a pause below 0',
    text: `${HEAD}repeat: 2\npause: -1s\n`,
    says: 's.yaml:4:8: pause: is "-1s", which is not a duration such as 30s, 500ms, 2m or 1h.',
  },
  {
    why: 'a set-up of an unknown engine',
    text: `${HEAD}setup: {with: [kv, transit, aws]}\n`,
    says: 's.yaml:3:29: setup.with[2]: is "aws", not one of kv, transit, approle.',
  },
  {
    why: 'a set-up under a name that it may not have',
    text: `${HEAD}setup: {name: root}\n`,
    says: 's.yaml:3:15: setup.name: The name "root" cannot be used for a set-up. Use three to forty-one lower-case letters, digits and hyphens, such as vault-pki-load.',
    looksRight: true,
  },
  {
    why: 'a set-up under a name like those of mounts that runs make',
    text: `${HEAD}setup: {name: vault-pki-load-kv}\n`,
    says: 's.yaml:3:15: setup.name: The name vault-pki-load-kv is like those of the mounts that runs make for themselves (vault-pki-load-kv-...). Choose another.',
    looksRight: true,
  },
  {
    why: 'a set-up by word',
    text: `${HEAD}setup: please\n`,
    says: 's.yaml:3:8: setup: is "please", not true or false or a group of settings.',
  },

  // Names.
  {
    why: 'an operation twice',
    text: 'name: n\nmix:\n  - operation: issue\n  - operation: issue\n',
    says: 's.yaml:4:16: mix[1].operation: "issue" is in the mix already. Give each entry a name of its own.',
    looksRight: true,
  },
  {
    why: 'a name of an entry twice',
    text: 'name: n\nmix: [{operation: issue, name: a}, {operation: crl, name: a}]\n',
    says: 's.yaml:2:59: mix[1].name: "a" is in the mix already. Give each entry a name of its own.',
    looksRight: true,
  },
  {
    why: 'a stage twice',
    text: staged('{name: a, hold: {rate: 5, duration: 1s}}, {name: a, hold: {rate: 5, duration: 1s}}'),
    says: 's.yaml:3:59: stages[1].name: is "a" a second time. Give each stage a name of its own.',
    looksRight: true,
  },
  {
    why: 'a target twice',
    text: `${HEAD}targets: [{name: a}, {name: a}]\n`,
    says: 's.yaml:3:29: targets[1].name: is "a" a second time. Give each a name of its own.',
    looksRight: true,
  },
  {
    why: 'a run twice',
    text: `${HEAD}runs: [{name: a}, {name: a}]\n`,
    says: 's.yaml:3:26: runs[1].name: is "a" a second time. Give each a name of its own.',
    looksRight: true,
  },
  {
    why: 'target and targets',
    text: `${HEAD}target: {mount: a}\ntargets: [{name: b}]\n`,
    says: 's.yaml:4:1: targets: stands beside target; there can be one of them. Leave target out.',
  },
  {
    why: 'a target without a name',
    text: `${HEAD}targets: [{mount: a}]\n`,
    says: 's.yaml:3:11: targets[0].name: is missing.',
  },
  {
    why: 'a run without a mix',
    text: 'name: n\nruns: [{name: r}]\n',
    says: 's.yaml:2:8: runs[0]: there is no mix for "r": nothing says what to send. Write mix: [{operation: issue}].',
    looksRight: true,
  },

  // Stages.
  {
    why: 'a stage without a shape',
    text: staged('{name: a}'),
    says: 's.yaml:3:10: stages[0]: the stage has no shape. Give it one of hold, soak, ramp, steps, burst, spike.',
  },
  {
    why: 'a stage with two shapes',
    text: staged('{hold: {rate: 5, duration: 1s}, ramp: {from: 1, to: 5, duration: 1s}}'),
    says: 's.yaml:3:10: stages[0]: the stage has 2 shapes (hold, ramp). Give it one of hold, soak, ramp, steps, burst, spike.',
  },
  { why: 'no stages', text: staged(''), says: 's.yaml:3:9: stages: is empty; there must be at least one.' },
  {
    why: 'a hold without a rate',
    text: staged('{hold: {duration: 1s}}'),
    says: 's.yaml:3:17: stages[0].hold: has no rate.',
  },
  {
    why: 'a ramp that does not say to where',
    text: staged('{ramp: {from: 1, duration: 1s}}'),
    says: 's.yaml:3:17: stages[0].ramp.to: is missing.',
  },
  {
    why: 'a level in words',
    text: staged('{ramp: {from: 1, to: much, duration: 1s}}'),
    says: 's.yaml:3:31: stages[0].ramp.to: is "much", which is not a rate such as 0, 20, 20/s or 1000/h.',
  },
  {
    why: 'a ramp from nothing of a unit that is none',
    text: staged('{ramp: {from: 0/banana, to: 5, duration: 1s}}'),
    says: 's.yaml:3:24: stages[0].ramp.from: is "0/banana", which is not a rate such as 0, 20, 20/s or 1000/h.',
  },
  {
    why: 'a level below 0',
    text: staged('{ramp: {from: -1, to: 5, duration: 1s}}'),
    says: 's.yaml:3:24: stages[0].ramp.from: is "-1", which is not a rate such as 0, 20, 20/s or 1000/h.',
  },
  {
    why: 'a level above all that can be',
    text: staged('{hold: {rate: 2000000, duration: 1s}}'),
    says: 's.yaml:3:24: stages[0].hold.rate: is 2000000; it must be at most 1000000/s.',
    looksRight: true,
  },
  {
    why: 'a stage that takes no time',
    text: staged('{hold: {rate: 5, duration: 0s}}'),
    says: 's.yaml:3:37: stages[0].hold.duration: is "0s"; it must be at least 1 ms.',
    looksRight: true,
  },
  {
    why: 'stages that send nothing',
    text: staged('{hold: {rate: 0, duration: 5s}}'),
    says: 's.yaml:3:1: stages: sends nothing at all. Raise one of the levels above 0.',
    looksRight: true,
  },
  {
    why: 'steps of nothing',
    text: staged('{steps: {from: 1, to: 5, by: 0, every: 1s}}'),
    says: 's.yaml:3:39: stages[0].steps.by: is 0: no step leads anywhere.',
    looksRight: true,
  },
  {
    why: 'too many steps',
    text: staged('{steps: {from: 1, to: 100000, by: 1, every: 1s}}'),
    says: 's.yaml:3:44: stages[0].steps.by: makes 99999 steps; 1000 are the most.',
    looksRight: true,
  },
  {
    why: 'a burst without an end',
    text: staged('{burst: {base: 1, peak: 5, every: 1s, for: 1s, duration: 9s}}'),
    says: 's.yaml:3:53: stages[0].burst.for: is not shorter than every: the peak would never end.',
    looksRight: true,
  },
  {
    why: 'too many bursts',
    text: staged('{burst: {base: 1, peak: 5, every: 10ms, for: 5ms, duration: 1h}}'),
    says: 's.yaml:3:44: stages[0].burst.every: makes 360000 bursts; 500 are the most.',
    looksRight: true,
  },
  {
    why: 'stages of more than a month',
    text: staged('{soak: {rate: 1, duration: 20d}}, {name: b, soak: {rate: 1, duration: 20d}}'),
    says: 's.yaml:3:1: stages: takes 960 h together; it must be at most 744 h. Shorten a stage.',
    looksRight: true,
  },
  {
    why: 'a concurrency in an open loop',
    text: staged('{hold: {concurrency: 5, duration: 1s}}'),
    says: 's.yaml:3:31: stages[0].hold.concurrency: is about requests in flight, but the load is an open loop. Write rate, or load: {model: closed}.',
    looksRight: true,
  },
  {
    why: 'a rate in a closed loop of stages',
    text: staged('{hold: {rate: 5, duration: 1s}}', 'load: {model: closed}\n'),
    says: 's.yaml:4:24: stages[0].hold.rate: is about arrivals, but the load is a closed loop (model: closed). Write concurrency, or load: {model: open}.',
    looksRight: true,
  },
  {
    why: 'half a request in flight',
    text: staged('{hold: {concurrency: 2.5, duration: 1s}}', 'load: {model: closed}\n'),
    says: 's.yaml:4:31: stages[0].hold.concurrency: is 2.5, which is not a whole number of requests in flight.',
  },
  {
    why: 'more in flight than can be',
    text: staged('{ramp: {from: 1, to: 20000, duration: 1s}}', 'load: {model: closed}\n'),
    says: 's.yaml:4:31: stages[0].ramp.to: is 20000; it must be at most 10000 in flight.',
    looksRight: true,
  },

  // What contradicts what.
  {
    why: 'stages beside a rate',
    text: staged('{hold: {rate: 5, duration: 1s}}', 'load:\n  rate: 5\n'),
    says: 's.yaml:4:3: load.rate: stands beside stages, which say it themselves. Leave rate out.',
    looksRight: true,
  },
  {
    why: 'stages beside a duration',
    text: staged('{hold: {rate: 5, duration: 1s}}', 'load: {duration: 5s}\n'),
    says: 's.yaml:3:8: load.duration: stands beside stages, which say it themselves. Leave duration out.',
    looksRight: true,
  },
  {
    why: 'a warm-up before a ramp from nothing',
    text: staged('{ramp: {from: 0, to: 5, duration: 1s}}', 'load: {warmup: 5s}\n'),
    says: 's.yaml:3:16: load.warmup: is there, but nothing would be sent in it: it is at the level at which ramp begins, which is 0. Begin with more than 0, or leave the warm-up out.',
    looksRight: true,
  },
  {
    why: 'a closed loop with a rate',
    text: `${HEAD}load: {model: closed, rate: 5}\n`,
    says: 's.yaml:3:29: load.rate: is there, but the load is a closed loop (model: closed). Leave one of them out.',
    looksRight: true,
  },
  {
    why: 'an open loop without a rate',
    text: `${HEAD}load: {model: open}\n`,
    says: 's.yaml:3:15: load.model: is open, but there is no rate at which requests are due. Add rate, e.g. rate: 20/s, or stages.',
    looksRight: true,
  },
  {
    why: 'Poisson without a rate',
    text: `${HEAD}load: {arrivals: poisson}\n`,
    says: 's.yaml:3:18: load.arrivals: arrivals poisson needs an open loop, but there is no rate. Add rate, e.g. rate 20/s.',
    looksRight: true,
  },
  {
    why: 'more threads than connections',
    text: `${HEAD}load:\n  concurrency: 2\n  threads: 4\n`,
    says: 's.yaml:5:12: load.threads: threads 4 is more than concurrency 2, so some threads would have no connection. Raise concurrency to at least 4.',
    looksRight: true,
  },
  {
    why: 'two time limits',
    text: `${HEAD}load: {timeout: 1s, timeout_ms: 500}\n`,
    says: 's.yaml:3:17: load.timeout: timeout and timeout_ms are both given. Give one of them.',
    looksRight: true,
  },
  {
    why: "of a run, an option that contradicts the scenario's",
    text: `${HEAD}load: {concurrency: 2}\nruns:\n  - name: r\n    load: {threads: 4}\n`,
    says: 's.yaml:6:21: runs[0].load.threads: threads 4 is more than concurrency 2, so some threads would have no connection. Raise concurrency to at least 4.',
    looksRight: true,
  },
  {
    why: 'options of an operation that contradict each other',
    text: entry('key-type: ec-256'),
    says: 's.yaml:2:46: mix[0].options.key-type: key-type is about CSRs, but sign is not given. Add sign, or leave it out.',
    looksRight: true,
  },
  {
    why: 'options of ocsp that contradict each other',
    text: 'name: n\nmix:\n  - operation: ocsp\n    options:\n      cert: a.pem\n      serials: b.jsonl\n',
    says: 's.yaml:5:13: mix[0].options.cert: cert and serials are both given. Give one of them.',
    looksRight: true,
  },
  {
    why: 'a body of a GET',
    text: entry('body: x', 'http'),
    says: 's.yaml:2:34: mix[0].options: A GET request has no body. Add method POST, or leave the body out.',
    looksRight: true,
  },
  {
    why: 'a token as a header',
    text: entry("header: 'X-Vault-Token: root'", 'http'),
    says: 's.yaml:2:43: mix[0].options.header: header sets x-vault-token, which would be visible to others. Use token own, none or bad.',
    looksRight: true,
  },
  {
    why: 'a key that cannot sign',
    text: entry('action: sign, key-type: aes256-gcm96', 'transit'),
    says: 's.yaml:2:46: mix[0].options.action: action sign cannot be done with a key of type aes256-gcm96. Use one of ed25519, ecdsa-p256, ecdsa-p384, ecdsa-p521, rsa-2048, rsa-3072, rsa-4096.',
    looksRight: true,
  },

  // Variables and secrets.
  {
    why: 'a variable that is not declared',
    text: `${HEAD}target: {url: '\${URL}'}\n`,
    env: { URL: 'http://x' },
    says: 's.yaml:3:15: target.url (${URL}): the variable "URL" is not declared (none is declared). Declare it at the top, env: [URL], or write $${ for the characters themselves.',
    looksRight: true,
  },
  {
    why: 'a slip in a variable',
    text: `env: [VAULT_URL]\n${HEAD}target: {url: '\${VAULT_ULR}'}\n`,
    says: 's.yaml:4:15: target.url (${VAULT_ULR}): the variable "VAULT_ULR" is not declared (declared are VAULT_URL). Did you mean ${VAULT_URL}?',
    looksRight: true,
  },
  {
    why: 'a variable that is not set',
    text: `env: [URL]\n${HEAD}target: {url: '\${URL}'}\n`,
    says: 's.yaml:4:15: target.url (${URL}): the environment variable URL is not set. Set URL, or give it a default: env: [URL=VALUE].',
    looksRight: true,
  },
  {
    why: 'a variable whose value will not do',
    text: `env: [RATE]\n${HEAD}load: {rate: '\${RATE}'}\n`,
    env: { RATE: 'fast' },
    says: 's.yaml:4:14: load.rate (${RATE}): is "fast", which is not a rate above zero such as 20, 20/s or 1000/h.',
    looksRight: true,
  },
  {
    why: 'an expression for a variable',
    text: `env: [A]\n${HEAD}load: {rate: '\${A:-5}'}\n`,
    says: 's.yaml:4:14: load.rate: the variable "A:-5" is not declared (declared are A). A variable is written as ${NAME}; write $${ for the characters themselves.',
    looksRight: true,
  },
  {
    why: 'a declaration that is none',
    text: `env: [2A]\n${HEAD}`,
    says: 's.yaml:1:7: env[0]: is "2A", which is neither NAME nor NAME=DEFAULT of an environment variable.',
  },
  {
    why: 'a variable declared twice',
    text: `env: [A, A=1]\n${HEAD}`,
    says: 's.yaml:1:10: env[1]: A is declared a second time.',
    looksRight: true,
  },
  {
    why: 'variables that are no list',
    text: `env: {A: 1}\n${HEAD}`,
    says: 's.yaml:1:6: env: is a group of settings, not a list.',
  },
  {
    why: 'a variable that looks like a secret',
    text: `env: [VAULT_TOKEN]\n${HEAD}`,
    says: 's.yaml:1:7: env[0]: VAULT_TOKEN looks like a secret, and what is in a scenario gets into results. The token is taken from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token by itself; token-env names another variable.',
    looksRight: true,
  },
  {
    why: 'a token in a variable',
    text: `env: [A]\n${HEAD}target: {namespace: '\${A}'}\n`,
    env: { A: TOKEN },
    says: 's.yaml:4:21: target.namespace (${A}): the environment variable A holds a Vault token, which is a secret and not for files. The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke one that others may have seen.',
    looksRight: true,
  },
  {
    why: 'a token as a value',
    text: `${HEAD}target:\n  namespace: ${TOKEN}\n`,
    says: 's.yaml:4:14: This looks like a Vault token, which is a secret and not for files. The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke one that others may have seen.',
    looksRight: true,
  },
  {
    why: 'an old token',
    text: entry("body: 's.9Xe2bTVkq0aZbCDeFgHiJkLm', method: POST", 'http'),
    says: 's.yaml:2:42: This looks like a Vault token, which is a secret and not for files. The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke one that others may have seen.',
    looksRight: true,
  },
  {
    why: 'a token in a comment',
    text: `${HEAD}# ${TOKEN}\n`,
    says: 's.yaml:3:3: This looks like a Vault token, which is a secret and not for files. The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke one that others may have seen.',
    looksRight: true,
  },
  {
    why: 'a token beside what is wrong with the YAML',
    text: `name: n\nmix: [\n# ${TOKEN}\n`,
    says: 's.yaml:3:3: This looks like a Vault token, which is a secret and not for files. The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke one that others may have seen.',
  },
  {
    why: 'a private key',
    text: `${HEAD}description: |\n  -----BEGIN EC PRIVATE KEY-----\n  MHcCAQEE\n`,
    says: 's.yaml:4:3: This looks like a private key, which is a secret and not for files like this one. Name its own file, e.g. with client-key.',
    looksRight: true,
  },
];
