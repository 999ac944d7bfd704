/** A server that repeats the token wherever it can: no output contains it, whatever its form. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { runCli, scratch, serve, startBatch } from './support.js';

const run = startBatch({ after });

/** No form of Vault's own; longer than what messages quote. */
const TOKEN = `8c1f6f0e-5d0b-4d43-9c65-${'0a1b2c3d'.repeat(12)}`;
const HEALTHY = {
  initialized: true,
  sealed: false,
  standby: false,
  enterprise: false,
  version: `1.21.1 ${TOKEN}`,
};

/** @param {import('../cli/support.js').Ended} ended */
function assertHidden({ stdout, stderr }) {
  for (const part of [TOKEN, TOKEN.slice(0, 40), TOKEN.slice(-40)])
    assert.ok(!`${stdout}${stderr}`.includes(part), `${stdout}${stderr}`);
}

describe('the token in use is hidden', () => {
  test('in every report, on the terminal and in the files rewritten during the run', async (t) => {
    const VAULT_ADDR = await serve(t, (_, response) => response.end(JSON.stringify(HEALTHY)));
    const path = scratch(t);
    const names = ['json', 'html', 'md', 'txt', 'csv', 'xml', 'prom', 'hlog', 'hgrm'].map(
      (one) => `r.${one}`,
    );
    const outs = names.flatMap((name) => ['--out', path(name)]);
    const args = ['health', '--requests', '5', '--rate', '5', ...outs, '--format', 'json'];
    const ended = await runCli(args, { env: { VAULT_ADDR, VAULT_TOKEN: TOKEN } });
    assert.equal(ended.code, 0, ended.stderr);
    assertHidden(ended);
    assert.match(ended.stderr, /1\.21\.1 <redacted>/);
    assert.equal(JSON.parse(ended.stdout).target.version, '1.21.1 <redacted>');
    for (const name of names) assert.ok(!readFileSync(path(name), 'utf8').includes(TOKEN), name);
  });

  /** @type {[what: string, args: string[], reply: {status: number, headers?: Record<string, string>, body: string}, message: RegExp][]} */
  const REPLIES = [
    [
      'a redirect',
      ['setup'],
      { status: 307, headers: { location: `/v1/${TOKEN}/x` }, body: '' },
      /redirects/,
    ],
    [
      'an error',
      ['setup', '--format', 'json'],
      { status: 400, body: JSON.stringify({ errors: [`x${TOKEN}`] }) },
      /x<redacted>/,
    ],
  ];
  for (const [what, args, { status, headers, body }, message] of REPLIES) {
    test(`in the text of ${what}`, async (t) => {
      const VAULT_ADDR = await serve(t, ({ url }, response) => {
        if (url === '/v1/sys/health') return response.end(JSON.stringify(HEALTHY));
        response.writeHead(status, headers).end(body);
      });
      const ended = await run(args, { env: { VAULT_ADDR, VAULT_TOKEN: TOKEN } });
      assert.equal(ended.code, 2);
      assertHidden(ended);
      assert.match(ended.stderr, message);
    });
  }

  test('if it is swapped with the address', async () => {
    const env = { VAULT_ADDR: TOKEN, VAULT_TOKEN: 'http://127.0.0.1:8200' };
    const ended = await run(['issue'], { env });
    assertHidden(ended);
    assert.match(
      ended.stderr,
      /The address in VAULT_ADDR is not an http:\/\/, https:\/\/ or unix:\/\/\/PATH address\./,
    );
  });

  test('in an argument', async () => {
    const ended = await run(['issue', '--mount', `${TOKEN}!`], { env: { VAULT_TOKEN: TOKEN } });
    assertHidden(ended);
    assert.match(ended.stderr, /--mount is "<redacted>!", which/);
  });
});
