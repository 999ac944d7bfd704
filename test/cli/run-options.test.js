import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readRunOptions } from '../../src/cli/operation.js';
import { scratch } from './support.js';

test('by default: one run, text output, no metrics', async () => {
  assert.deepEqual(await readRunOptions({}, { line: 'x issue' }), {
    command: 'x issue',
    out: [],
    format: 'text',
    quiet: false,
    summary: null,
    metrics: null,
    otlp: null,
    repeat: 1,
    pauseMs: 0,
    search: null,
    join: null,
    partFiles: [],
  });
});

test('--metrics 9464', async () => {
  assert.deepEqual((await readRunOptions({ metrics: '9464' })).metrics, { host: '127.0.0.1', port: 9464 });
});

describe('reports before the run an output that cannot be written:', () => {
  /** @type {[string, (path: (name: string, content?: string) => string) => string[], string, RegExp][]} what, --out, code, message */
  const OUTS = [
    ['a repeated file', (path) => [path('a.json'), path('a.json')], 'same_file', /given twice/],
    [
      'two paths of one file',
      (path) => [path('a.json', ''), `${path('.')}/../${path('.').split('/').at(-1)}/a.json`],
      'same_file',
      /is the same file as --out .*a\.json\./,
    ],
    [
      'a link and its file',
      (path) => {
        symlinkSync(path('a.json'), path('link.json'));
        return [path('a.json'), path('link.json')];
      },
      'same_file',
      /link\.json is the same file as/,
    ],
    ['a name that is too long', (path) => [path(`${'x'.repeat(300)}.md`)], 'cannot_write', /name too long/],
    [
      'a circular link',
      (path) => {
        symlinkSync('a.json', path('a.json'));
        return [path('a.json')];
      },
      'cannot_write',
      /too many symbolic links/,
    ],
  ];
  for (const [what, outs, code, message] of OUTS) {
    test(what, async (t) => {
      const out = outs(scratch(t));
      await assert.rejects(readRunOptions({ out }), { code, message });
    });
  }

  test('the check of a writable file leaves nothing behind', async (t) => {
    const path = scratch(t);
    await readRunOptions({ out: [path('a.json'), path('b.json')] });
    assert.deepEqual(readdirSync(path('.')), []);
  });

  /** @type {[string, (path: (name: string, content?: string) => string) => string, RegExp | null][]} */
  const SUMMARIES = [
    [
      'without folder',
      (path) => path('nope/s.md'),
      /^The file in GITHUB_STEP_SUMMARY cannot .*: its directory/,
    ],
    [
      'that is a directory',
      (path) => {
        mkdirSync(path('s.md'));
        return path('s.md');
      },
      /^The file in GITHUB_STEP_SUMMARY cannot be written: it is a directory/,
    ],
    ['that does not exist yet', (path) => path('s.md'), null],
    ['that exists', (path) => path('s.md', '# x\n'), null],
  ];
  for (const [what, where, message] of SUMMARIES) {
    test(`${message === null ? 'accepts' : 'rejects'} a summary file ${what}`, async (t) => {
      const before = process.env.GITHUB_STEP_SUMMARY;
      t.after(() => {
        if (before === undefined) delete process.env.GITHUB_STEP_SUMMARY;
        else process.env.GITHUB_STEP_SUMMARY = before;
      });
      const file = where(scratch(t));
      process.env.GITHUB_STEP_SUMMARY = file;
      const read = readRunOptions({ githubSummary: true });
      if (message === null) assert.equal((await read).summary, file);
      else await assert.rejects(read, { code: 'cannot_write', message });
    });
  }
});
