import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nameGroups } from '../../src/cli/input-files.js';
import { PkiLoadError } from '../../src/common/errors.js';

describe('groups are named', () => {
  /** @type {[string, string[][], string[], string[]][]} what, files, labels, names */
  const TABLE = [
    ['after their only file', [['old.json'], ['new.json']], [], ['old', 'new']],
    ['without the folder', [['a/old.json'], ['b/c/new.json']], [], ['old', 'new']],
    [
      'after the common part of their files',
      [
        ['base-1.json', 'base-2.json'],
        ['new-1.json', 'new-2.json'],
      ],
      [],
      ['base', 'new'],
    ],
    [
      'without splitting a number',
      [
        ['run1.json', 'run10.json'],
        ['v01.json', 'v02.json'],
      ],
      [],
      ['run', 'v'],
    ],
    ['after a version with dots', [['v1.20-1.json', 'v1.20-2.json'], ['v1.21.json']], [], ['v1.20', 'v1.21']],
    [
      'after their folder if nothing else is common',
      [
        ['old/1.json', 'old/2.json'],
        ['new/1.json', 'new/2.json'],
      ],
      [],
      ['old', 'new'],
    ],
    ['with the folder if names are equal', [['a/run.json'], ['b/run.json']], [], ['a/run', 'b/run']],
    ['with a number if they are still equal', [['x.json'], ['x.json']], [], ['x', 'x (2)']],
    ['runs if the names have nothing in common', [['a.json', 'b.json'], ['c.json']], [], ['runs', 'c']],
    ['runs in a folder without a name', [['./1.json', './2.json'], ['c.json']], [], ['runs', 'c']],
    ['after standard input', [['-'], ['new.JSON']], [], ['standard input', 'new']],
    ['as the user names them', [['a.json'], ['b.json']], ['consul', 'raft'], ['consul', 'raft']],
    ['as the user names some of them', [['a.json'], ['b.json']], ['consul'], ['consul', 'b']],
  ];
  for (const [why, files, labels, names] of TABLE) {
    test(why, () => assert.deepEqual(nameGroups(files, labels), names));
  }

  /** @type {[string, string[], string, RegExp][]} */
  const BAD = [
    ['more names than groups', ['a', 'b', 'c'], 'too_many_names', /--name is given 3 times, but there/],
    ['one name for two groups', ['a', 'a'], 'same_name_twice', /--name "a" is given to two groups/],
  ];
  for (const [why, labels, code, message] of BAD) {
    test(`rejected: ${why}`, () => {
      assert.throws(
        () => nameGroups([['x.json'], ['y.json']], labels),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.equal(error.code, code);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
