/** What can be seen on a terminal that is not always there: it is stopped, made smaller and larger. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { liveScreen, plainScreen } from '../../src/live/terminal.js';
import { createTerminalScreen } from './terminal-screen.js';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

const CALM_MS = 150;

/** @param {{columns?: number, rows?: number}} [size] of the terminal */
function stage(size = { columns: 80, rows: 24 }) {
  const terminal = createTerminalScreen(size);
  let stopped = '';
  let isStopped = false;
  let written = 0;
  let free = () => {};
  const writer = {
    /** @param {string} text */
    write(text) {
      written++;
      if (isStopped) stopped += text;
      else terminal.write(text);
    },
    isBusy: () => stopped !== '',
    onFree(/** @type {() => void} */ callback) {
      free = callback;
    },
  };
  const screen = liveScreen(writer, { isTTY: true, ...size });
  return {
    screen,
    seen: () => terminal.lines().filter((line) => line !== ''),
    written: () => written,
    kept: () => stopped.length,
    /** As the terminal does it, and then the program learns of it. @param {number} columns */
    resize(columns) {
      terminal.resize(columns);
      screen.resize(columns, 24);
    },
    stop() {
      isStopped = true;
    },
    goOn() {
      isStopped = false;
      terminal.write(stopped);
      stopped = '';
      free();
    },
  };
}

const frame = (/** @type {number} */ second) => `Progress ${second}\nRate ${second * 2}\nErrors none`;

describe('a live screen', () => {
  test('keeps the last frame below the permanent lines', () => {
    const { screen, seen } = stage();
    screen.lines(['start']);
    screen.show(frame(1));
    screen.show(frame(2));
    screen.lines(['Warning: one', 'two']);
    assert.deepEqual(seen(), ['start', 'Warning: one', 'two', 'Progress 2', 'Rate 4', 'Errors none']);
    screen.show(frame(3));
    screen.clear();
    screen.lines(['the end']);
    assert.deepEqual(seen(), ['start', 'Warning: one', 'two', 'the end']);
  });

  test('draws nothing on a stopped terminal, and the newest frame when it resumes', () => {
    const { screen, seen, stop, goOn, written, kept } = stage();
    screen.lines(['start']);
    screen.show(frame(1));
    stop();
    screen.show(frame(2));
    const before = [written(), kept()];
    for (let second = 3; second < 1000; second++) screen.show(frame(second));
    assert.deepEqual([written(), kept()], before);
    goOn();
    assert.deepEqual(seen(), ['start', 'Progress 999', 'Rate 1998', 'Errors none']);
  });

  test('keeps warnings for a stopped terminal, and leaves it clean at the end', () => {
    const { screen, seen, stop, goOn } = stage();
    screen.lines(['start']);
    screen.show(frame(1));
    stop();
    screen.show(frame(2));
    screen.lines(['Warning: one']);
    screen.show(frame(3));
    screen.lines(['Warning: two']);
    screen.clear();
    goOn();
    assert.deepEqual(seen(), ['start', 'Warning: one', 'Warning: two']);
  });

  test('draws on a terminal that reports no size', () => {
    const { screen, seen } = stage({ columns: 80, rows: 24 });
    screen.resize(0, 0);
    mock.timers.tick(CALM_MS);
    screen.show(frame(1));
    assert.equal(seen()[0], 'Progress 1');
    const terminal = createTerminalScreen();
    const writer = { write: terminal.write, isBusy: () => false, onFree() {} };
    const unknown = liveScreen(writer, { isTTY: true, columns: 0, rows: 0 });
    unknown.show(frame(1));
    assert.equal(terminal.lines()[0], 'Progress 1');
  });
});

describe('a live screen that is resized', () => {
  const wide = ['Progress 1 '.padEnd(90, '█'), `Rate ${'1'.repeat(50)}`, '', 'short'].join('\n');

  for (const sizes of [[60], [40], [150], [60, 150, 40], [20, 100], [45, 44, 43, 42, 41]]) {
    test(`leaves nothing of the last frame: 100, ${sizes.join(', ')}`, () => {
      const { screen, seen, resize } = stage({ columns: 100, rows: 24 });
      screen.lines(['start']);
      screen.show(wide);
      for (const columns of sizes) {
        resize(columns);
        mock.timers.tick(CALM_MS);
        screen.show(frame(columns));
      }
      screen.show(frame(9));
      assert.deepEqual(seen(), ['start', 'Progress 9', 'Rate 18', 'Errors none']);
      screen.clear();
      assert.deepEqual(seen(), ['start']);
    });

    test(`leaves nothing while resizing continuously: 100, ${sizes.join(', ')}`, () => {
      const { screen, seen, resize, written } = stage({ columns: 100, rows: 24 });
      screen.lines(['start']);
      screen.show(wide);
      const before = written();
      for (const columns of sizes) {
        resize(columns);
        mock.timers.tick(CALM_MS - 1);
        screen.show(frame(columns));
      }
      assert.equal(written(), before, 'nothing is drawn meanwhile');
      mock.timers.tick(CALM_MS);
      const last = Number(sizes.at(-1));
      assert.deepEqual(seen(), ['start', `Progress ${last}`, `Rate ${last * 2}`, 'Errors none']);
    });
  }

  test('warnings and the end do not wait for the resizing to settle', () => {
    const { screen, seen, resize } = stage({ columns: 100, rows: 24 });
    screen.lines(['start']);
    screen.show(wide);
    resize(50);
    screen.lines(['Warning: one']);
    assert.deepEqual(seen(), ['start', 'Warning: one']);
    mock.timers.tick(CALM_MS);
    assert.equal(seen().length, 2 + 5, 'the lines of the frame, two of them broken');
    resize(40);
    screen.clear();
    assert.deepEqual(seen(), ['start', 'Warning: one']);
    mock.timers.tick(CALM_MS);
    assert.deepEqual(seen(), ['start', 'Warning: one']);
  });

  test('a frame taller than the terminal is erased as far as it was drawn', () => {
    const { screen, seen } = stage({ columns: 80, rows: 4 });
    screen.lines(['start']);
    screen.show('1\n2\n3\n4\n5');
    assert.deepEqual(seen(), ['start', '3', '4', '5']);
    screen.clear();
    assert.deepEqual(seen(), ['start']);
  });
});

test('a log without a reader gets no outdated line', () => {
  /** @type {string[]} */
  const lines = [];
  let isBusy = false;
  let ms = 0;
  const writer = {
    write: (/** @type {string} */ text) => lines.push(text),
    isBusy: () => isBusy,
    onFree() {},
  };
  const screen = plainScreen(writer, () => ms);
  screen.show('1 s');
  isBusy = true;
  ms = 5000;
  screen.show('6 s');
  screen.lines(['Warning: kept']);
  ms = 7000;
  isBusy = false;
  screen.show('8 s');
  assert.deepEqual(lines, ['1 s\n', 'Warning: kept\n', '8 s\n']);
});
