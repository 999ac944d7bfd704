/** Parts as processes of their own, killed while they send. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readDocument } from '../../src/result/read-document.js';
import { freePort } from '../vault/start.js';
import { startCounting } from './support.js';

/** @import { Result } from '../../src/result/schema.js' */

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));

/** @type {[killed: number, codes: (number | null)[], message: RegExp][]} */
const TABLE = [
  [2, [98, 0, null], /Warning: Part 2 of 3 was lost: its connection closed\./],
  [0, [null, 1, 1], /Part 0 was lost: its connection closed\. This part \(part 1 of 3\) has stopped/],
];
for (const [killed, codes, message] of TABLE) {
  test(`kill -9 of part ${killed} of 3 while it sends: all others end, with codes ${codes}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'vpl-killed-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const { url, paths } = await startCounting(t);
    const meeting = ['--join', `127.0.0.1:${await freePort()}`, '--parts', '3', '--out', 'r.json'];
    const load = [
      '--rate',
      '60',
      '--duration',
      '1m',
      '--concurrency',
      '6',
      '--cold-start',
      '--require',
      'errors<50%',
    ];
    const secret = { VAULT_PKI_LOAD_JOIN_SECRET: 'a secret of the test' };
    const parts = [0, 1, 2].map((index) => {
      const env = { PATH: process.env.PATH, HOME: folder, ...secret, NOMAD_ALLOC_INDEX: String(index) };
      const args = [
        PROGRAM,
        'http',
        '--url',
        url,
        '--path',
        '/r/{n}',
        '--token',
        'none',
        ...load,
        ...meeting,
      ];
      const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
      const part = { child, stderr: '', ended: once(child, 'close') };
      child.stderr.setEncoding('utf8').on('data', (text) => {
        part.stderr += text;
      });
      return part;
    });
    t.after(() => {
      for (const { child } of parts) child.kill('SIGKILL');
    });
    while (paths.length < 60) await sleep(20);
    parts[killed].child.kill('SIGKILL');
    const ends = await Promise.all(parts.map(({ ended }) => ended));
    assert.deepEqual(
      ends.map(([code]) => code),
      codes,
      parts.map(({ stderr }) => stderr).join('\n'),
    );
    assert.match(parts[killed === 0 ? 1 : 0].stderr, message);
    const file = join(folder, killed === 0 ? 'r-part-1.json' : 'r.json');
    const { totals, measurement, requirements } = /** @type {Result} */ (await readDocument(file));
    // It was killed after 60 of 3,600.
    assert.ok(totals.sent > 0 && totals.sent < 300, `${totals.sent}`);
    const codesOf = measurement.reasons.map(({ code }) => code);
    assert.equal(codesOf.includes('parts_missing'), killed === 2);
    if (killed === 2)
      assert.deepEqual([requirements[0].verdict, requirements[0].doubt], ['not proven', 'invalid']);
  });
}
