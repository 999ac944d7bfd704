/** Busy loops at normal priority, like other load on a shared machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** They also exit if this process is killed, and after ten minutes. */
const LIMIT_MS = 10 * 60 * 1000;
const LOOP = `
  const parent = process.ppid;
  const end = Date.now() + ${LIMIT_MS};
  while (process.ppid === parent && Date.now() < end) for (let i = 0; i < 1e6; i++);
`;

/**
 * @template T
 * @param {number} count
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withHogs(count, work) {
  const hogs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', LOOP], { stdio: 'ignore' }),
  );
  const kill = () => hogs.forEach((hog) => void hog.kill('SIGKILL'));
  process.once('exit', kill);
  try {
    return await work();
  } finally {
    const ended = hogs.map((hog) => once(hog, 'close'));
    kill();
    process.removeListener('exit', kill);
    await Promise.all(ended);
  }
}
