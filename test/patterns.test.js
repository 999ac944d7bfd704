/** A server or a file can send a long text, and matching blocks the process: no pattern in src takes quadratic time. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import ts from 'typescript';

const SRC = new URL('../src/', import.meta.url);

/** @typedef {{where: string, pattern: RegExp}} Found */

/** @param {string} file @returns {Found[]} its literals */
function literalsIn(file) {
  const text = readFileSync(new URL(file, SRC), 'utf8');
  const code = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @param {ts.Node} node @returns {Found[]} */
  const find = (node) => {
    if (!ts.isRegularExpressionLiteral(node)) return node.getChildren().flatMap(find);
    const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(node.text) ?? [];
    const { line } = code.getLineAndCharacterOfPosition(node.getStart());
    return [{ where: `${file}:${line + 1}`, pattern: new RegExp(source, flags) }];
  };
  return find(code);
}

/** @param {string} file @returns {Promise<Found[]>} those that it builds when it is imported */
async function builtIn(file) {
  /** @type {Found[]} */
  const found = [];
  const original = globalThis.RegExp;
  /** @param {RegExpConstructor} _ @param {ConstructorParameters<RegExpConstructor>} parts */
  const construct = (_, parts) => {
    const pattern = new original(...parts);
    found.push({ where: file, pattern });
    return pattern;
  };
  globalThis.RegExp = new Proxy(original, { construct });
  await import(new URL(`${file}?built`, SRC).href).finally(() => {
    globalThis.RegExp = original;
  });
  return found;
}

const LENGTH = 6000;
/** Linear time takes 0.05 ms, quadratic time at least 15 ms. */
const MAX_MS = 4;

/** @param {RegExp} pattern @returns {Generator<string>} long runs of what it may match, and an end that it may not match */
function* longTexts({ source }) {
  const plain = source.replace(/\\[a-zA-Z]/g, '');
  const starts = ['', 'x', '1', 'x:x', ...(plain.match(/[\w:/ -]{2,}/g) ?? []).slice(0, 3)];
  for (const run of new Set(` a1\t/${plain}`))
    for (const start of starts)
      for (const end of ['\u0001', '\n\u0001']) yield start + run.repeat(LENGTH) + end;
}

/** @param {RegExp} pattern @param {string} text @returns {number} CPU time */
function matchMs(pattern, text) {
  const { user } = process.cpuUsage();
  text.replace(pattern, '');
  return (process.cpuUsage().user - user) / 1000;
}

/** @param {Found} found @returns {string[]} */
function slowIn({ where, pattern }) {
  for (const text of longTexts(pattern)) {
    let tries = 3;
    while (tries > 0 && matchMs(pattern, text) > MAX_MS) tries--;
    if (tries === 0) return [`${where} ${pattern} with ${JSON.stringify(text.slice(0, 30))}...`];
  }
  return [];
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));

test('every pattern in src takes linear time', async () => {
  const found = FILES.flatMap(literalsIn);
  assert.ok(found.length > 200, `${found.length} literals`);
  for (const file of FILES) {
    const text = readFileSync(new URL(file, SRC), 'utf8');
    if (/^const .* new RegExp\(/m.test(text)) found.push(...(await builtIn(file)));
  }
  assert.deepEqual(found.flatMap(slowIn), []);
});

test('finds patterns that take quadratic time', () => {
  for (const pattern of [
    /\/+$/,
    /\d+$/,
    /^([^:\r\n]*):[ \t]*(.*?)[ \t]*\r?$/gm,
    /[.: ]+$/,
    /\s+x/,
    /\B(?=(\d{3})+$)/g,
  ])
    assert.equal(slowIn({ where: 'x', pattern }).length, 1, String(pattern));
  assert.deepEqual(slowIn({ where: 'x', pattern: /(?<!\/)\/+$/ }), []);
});
