/** A token and private keys, planted wherever the program can meet them, come out nowhere. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { EC, runCli, scratch } from '../cli/support.js';
import { startFaultProxy } from './support.js';

/** @import { SpawnedDevServer } from '../../src/dev/spawn.js' */
/** @import { Behaviour } from './support.js' */
/** @import { IncomingMessage } from 'node:http' */
/** @import { TestContext } from 'node:test' */

/** The last part of each is what is looked for: it is secret in itself, and no pattern of tokens helps to find it. */
const TOKEN = 'hvs.CAESIPLANTEDTOKENPLANTEDTOKEN0123456789';
const PLAIN_TOKEN = 'f00dfeed-0bad-4bad-8bad-plantedtoken';
const KEY = `-----BEGIN PRIVATE KEY-----\nMIGHAgEAPLANTEDKEYPLANTEDKEY\n-----END PRIVATE KEY-----\n`;
const SECRETS = /PLANTEDTOKEN|PLANTEDKEY|plantedtoken|BEGIN [A-Z ]*PRIVATE KEY/;

const TEXT = `permission denied for ${TOKEN} with\n${KEY}`;

/** @type {SpawnedDevServer[]} */
let servers;
before(async () => {
  servers = await Promise.all(
    [TOKEN, PLAIN_TOKEN].map((token) => startDevServer({ caKeyType: 'ec', token })),
  );
});
after(() => Promise.all(servers.map((server) => server.stop())));

/** @param {string} where @param {string} text */
const assertClean = (where, text) => assert.doesNotMatch(text, SECRETS, where);

/**
 * Runs to the end, with every output there is, and looks at all of them.
 * @param {TestContext} t
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
async function runAndSearch(t, args, env) {
  const path = scratch(t);
  const files = { json: path('r.json', ''), text: path('r.txt', ''), keep: path('kept', '') };
  const outs = ['--format', 'json', '--out', files.json, '--out', files.text];
  const keep = args[0] === 'issue' ? ['--keep', files.keep] : [];
  const ended = await runCli([...args, ...outs, ...keep], { env });
  assertClean('standard output', ended.stdout);
  assertClean('standard error', ended.stderr);
  for (const [name, file] of Object.entries(files)) assertClean(name, readFileSync(file, 'utf8'));
  return { ...ended, kept: readFileSync(files.keep, 'utf8') };
}

describe('no output contains a secret', { concurrency: 3 }, () => {
  for (const which of [0, 1]) {
    for (const command of ['issue', 'ocsp']) {
      test(`after a successful run: ${command} with token ${which + 1}`, async (t) => {
        const { url, token } = servers[which];
        const env = { VAULT_ADDR: url, VAULT_TOKEN: token, VAULT_PKI_LOAD_DEBUG: '1' };
        const { stdout, kept } = await runAndSearch(t, [command, ...EC, '--requests', '20'], env);
        assert.equal(JSON.parse(stdout).totals.succeeded, 20);
        if (command === 'issue') assert.match(kept, /^(?:\{"serial":"[^"]+","certificate":"[^"]+"\}\n){20}$/);
      });
    }
  }

  const body = Buffer.from(JSON.stringify({ errors: [TEXT], data: null, warnings: [TEXT], auth: TEXT }));
  const issued = Buffer.from(
    JSON.stringify({ data: { certificate: TEXT, issuing_ca: TEXT, private_key: KEY, serial_number: TEXT } }),
  );
  /** @type {[string, Behaviour][]} what every response is */
  const RESPONSES = [
    ...[200, 403, 503].map(
      (status) =>
        /** @type {[string, Behaviour]} */ ([
          `HTTP ${status} with secrets in its body and headers`,
          ({ res }) => res.writeHead(status, `${TOKEN}`, { 'x-token': TOKEN, warning: TOKEN }).end(body),
        ]),
    ),
    ['an invalid certificate', ({ res }) => res.writeHead(200).end(issued)],
    ['secrets that are not JSON', ({ res }) => res.writeHead(200).end(TEXT)],
    ['a redirect', ({ res }) => res.writeHead(307, { location: `http://x/${TOKEN}` }).end(TEXT)],
    ['not HTTP', ({ socket }) => void socket.end(`${TOKEN} ${KEY}\r\n\r\n`)],
    ['a bad header', ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\nX ${TOKEN}\r\n${KEY}\r\n\r\n`)],
  ];
  for (const [what, behaviour] of RESPONSES) {
    /** @type {[string, (req: IncomingMessage) => boolean][]} */
    const AIMS = [
      ['under load', (req) => /\/issue\//.test(req.url ?? '')],
      ['to the token lookup', (req) => /lookup-self/.test(req.url ?? '')],
      ['to the first request', (req) => /sys\/health/.test(req.url ?? '')],
    ];
    for (const [where, aim] of AIMS) {
      test(`after a response ${where} that is ${what}`, async (t) => {
        const proxy = await startFaultProxy(servers[0].url);
        t.after(proxy.close);
        proxy.aim(aim);
        proxy.inject(behaviour);
        const env = { VAULT_ADDR: proxy.url, VAULT_TOKEN: TOKEN, VAULT_PKI_LOAD_DEBUG: '1' };
        const { stderr, code } = await runAndSearch(t, ['issue', ...EC, '--requests', '3'], env);
        assert.ok(proxy.seen.length > 0, 'it was asked');
        assert.ok([0, 1, 2, 98].includes(Number(code)), `${code}`);
        assert.doesNotMatch(stderr, /internal error/);
      });
    }
  }

  /** @type {Record<string, string>[]} */
  const MODES = [{}, { VAULT_PKI_LOAD_DEBUG: '1' }];
  for (const debug of MODES) {
    for (const when of ['awaited', 'uncaught']) {
      test(`after an internal error, ${when}, ${'VAULT_PKI_LOAD_DEBUG' in debug ? 'with' : 'without'} a stack trace`, async (t) => {
        const { url, token } = servers[1];
        const text = JSON.stringify(`${TEXT} and ${token}`);
        const broken = `globalThis.JSON.stringify = () => { throw new Error(${text}); };`;
        // As soon as the program hears of such errors, which on a slow machine takes its time.
        const heard = "process.listenerCount('uncaughtException') > 0";
        const thrown = `setInterval(() => { if (${heard}) throw new Error(${text}); }, 100);`;
        const module = scratch(t)('broken.mjs', when === 'awaited' ? broken : thrown);
        const env = { VAULT_ADDR: url, VAULT_TOKEN: token, NODE_OPTIONS: `--import=${module}`, ...debug };
        const { stderr, code } = await runCli(['issue', ...EC, '--duration', '1m'], { env });
        assert.match(stderr, /vault-pki-load: internal error: .*<redacted>/);
        assertClean('standard error', stderr);
        assert.equal(/^ {4}at /m.test(stderr), 'VAULT_PKI_LOAD_DEBUG' in debug, stderr);
        assert.equal(code, 1);
      });
    }
  }
});
