/**
 * Breaks the product, one small fault at a time, and counts how many of the faults the fast tests notice.
 *
 *   node test/mutants/main.js                                 # 100 faults in each of src/engine, src/pki and src/result
 *   node test/mutants/main.js src/pki --count 30 --seed 2     # 30 others in one folder
 *   node test/mutants/main.js src/pki/der.js --count 1000     # all of one file
 *
 * Each fault is tried on the fast tests that import the file it is in, then on those in the folder of test/ with the same
 * name, then on whole runs, until one fails or hangs. Other tests are not tried, so the share printed is a lower bound of
 * what `npm run test:fast` finds; and some faults change nothing that anybody could see. Exit code 1 where a share is below 80 %.
 */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { shuffled } from '../../src/common/random.js';
import { mutantsOf } from './mutators.js';

/** @import { Mutant } from './mutators.js' */

/** @typedef {Mutant & {file: string}} Fault `file` from the top of the repository */

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = [
  'bin',
  'docs',
  'examples',
  'src',
  'test',
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
];
const ENOUGH = 0.8;
/** Tests that send real load in this process. */
const WHOLE_RUNS = 'test/run/';
/** A test that takes so much longer than without a fault hangs. */
const HANGS_AFTER = { times: 5, ms: 10_000 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    threads: { type: 'string', default: String(availableParallelism()) },
  },
});
const places = positionals.length > 0 ? positionals : ['src/engine', 'src/pki', 'src/result'];
const missing = places.find((place) => !existsSync(join(TOP, place)));
const notWhole = Object.entries(values).find(([, value]) => !/^[1-9]\d*$/.test(value));
if (missing !== undefined || notWhole !== undefined) {
  const wrong =
    missing === undefined ? `--${notWhole?.[0]} takes a whole number from 1` : `there is no ${missing}`;
  process.stderr.write(`mutants: ${wrong}.\n`);
  process.exit(1);
}
const copies = Array.from({ length: Number(values.threads) }, makeCopy);
try {
  const tests = filesIn('test', '.test.js').map((file) => ({ file, imports: importsOf(file) }));
  const shares = [];
  for (const place of places) shares.push(await tryAll(place, tests));
  process.exitCode = shares.every((share) => share >= ENOUGH) ? 0 : 1;
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true });
}

function makeCopy() {
  const copy = mkdtempSync(join(tmpdir(), 'vpl-mutants-'));
  for (const name of COPIED) cpSync(join(TOP, name), join(copy, name), { recursive: true, filter: isSource });
  symlinkSync(join(TOP, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** @param {string} path */
function isSource(path) {
  return !['node_modules', '.build', '.cache'].includes(basename(path));
}

/** @param {string} place file or folder @param {string} ending @returns {string[]} */
function filesIn(place, ending) {
  if (statSync(join(TOP, place)).isFile()) return [place];
  return readdirSync(join(TOP, place), { recursive: true, encoding: 'utf8' })
    .map((name) => join(place, name))
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .sort();
}

/** @param {string} file @returns {Set<string>} files of the product that it imports, itself or through helpers in test/ */
function importsOf(file, seen = new Set([file]), found = new Set()) {
  const text = readFileSync(join(TOP, file), 'utf8');
  for (const [, name] of text.matchAll(/(?:from |import\(|new URL\()'(\.[^']+\.js)'/g)) {
    const imported = join(dirname(file), name);
    if (imported.startsWith('src/')) found.add(imported);
    else if (!seen.has(imported) && existsSync(join(TOP, imported))) {
      importsOf(imported, seen.add(imported), found);
    }
  }
  return found;
}

/**
 * @param {string} place
 * @param {{file: string, imports: Set<string>}[]} tests
 * @returns {Promise<number>} share of the faults that were noticed
 */
async function tryAll(place, tests) {
  /** @type {Fault[]} */
  const all = filesIn(place, '.js').flatMap((file) =>
    mutantsOf(readFileSync(join(TOP, file), 'utf8')).map((mutant) => ({ file, ...mutant })),
  );
  const order = shuffled(all.length, Number(values.seed)).slice(0, Number(values.count));
  const faults = [...order].map((index) => all[index]);
  /** Without a fault. @type {Map<string, number>} */
  const usual = new Map();
  const rows = await inTurns(faults, (fault, copy) =>
    tryOne(fault, testsFor(fault.file, tests), copy, usual),
  );
  for (const { fault, noticed } of rows) process.stdout.write(`${describe(fault, noticed)}\n`);
  const count = rows.filter(({ noticed }) => noticed !== null).length;
  const share = count / rows.length;
  process.stdout.write(
    `${place}: ${count} of ${rows.length} noticed (${(100 * share).toFixed(0)} %) of ${all.length} that there are\n\n`,
  );
  return share;
}

/**
 * @template Item, Row
 * @param {Item[]} items
 * @param {(item: Item, copy: string) => Promise<Row>} work
 * @returns {Promise<Row[]>} in the order of the items
 */
async function inTurns(items, work) {
  /** @type {Row[]} */
  const rows = [];
  let next = 0;
  await Promise.all(
    copies.map(async (copy) => {
      while (next < items.length) {
        const index = next++;
        rows[index] = await work(items[index], copy);
        if (process.stderr.isTTY) process.stderr.write(`\r${next} of ${items.length}`);
      }
    }),
  );
  return rows;
}

/** @param {string} file @param {{file: string, imports: Set<string>}[]} tests @returns {string[]} the likeliest first */
function testsFor(file, tests) {
  const folder = `test/${file.split('/')[1]}/`;
  const stem = basename(file, '.js');
  const rank = (/** @type {{file: string, imports: Set<string>}} */ { file: name, imports }) =>
    (basename(name).startsWith(`${stem}.`) ? 0 : 4) +
    (imports.has(file) ? 0 : 2) +
    (name.startsWith(folder) ? 0 : 1);
  return tests
    .filter(
      ({ file: name, imports }) =>
        imports.has(file) || name.startsWith(folder) || name.startsWith(WHOLE_RUNS),
    )
    .sort((a, b) => rank(a) - rank(b))
    .map(({ file: name }) => name);
}

/**
 * @param {Fault} fault
 * @param {string[]} tests
 * @param {string} copy
 * @param {Map<string, number>} usual
 * @returns {Promise<{fault: Fault, noticed: string | null}>} `noticed`: the test that failed
 */
async function tryOne(fault, tests, copy, usual) {
  for (const test of tests) {
    if (usual.has(test)) continue;
    const startedAt = performance.now();
    usual.set(test, Number.NaN);
    if (!(await passes(test, copy, 600_000))) throw new Error(`${test} fails without a fault.`);
    usual.set(test, performance.now() - startedAt);
  }
  const path = join(copy, fault.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, original.slice(0, fault.at) + fault.text + original.slice(fault.end));
  try {
    for (const test of tests) {
      const limitMs = HANGS_AFTER.ms + HANGS_AFTER.times * (usual.get(test) || HANGS_AFTER.ms);
      if (!(await passes(test, copy, limitMs))) return { fault, noticed: test };
    }
    return { fault, noticed: null };
  } finally {
    writeFileSync(path, original);
  }
}

/** @param {string} test @param {string} copy @param {number} limitMs @returns {Promise<boolean>} */
function passes(test, copy, limitMs) {
  const child = spawn(process.execPath, [resolve(copy, test)], {
    cwd: copy,
    stdio: 'ignore',
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), limitMs);
  return new Promise((settle) => {
    child.once('exit', (code) => {
      clearTimeout(timer);
      settle(code === 0);
    });
  });
}

/** @param {Fault} fault @param {string | null} noticed */
function describe({ file, at, end, text }, noticed) {
  const source = readFileSync(join(TOP, file), 'utf8');
  const line = source.slice(0, at).split('\n').length;
  const short = (/** @type {string} */ code) => code.replace(/\s+/g, ' ').slice(0, 50);
  return `${noticed === null ? 'NOT noticed' : 'noticed    '}  ${file}:${line}  ${short(source.slice(at, end))}  ->  ${short(text)}  ${noticed ?? ''}`;
}
