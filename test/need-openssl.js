/**
 * For tests that hold our work against the real `openssl`: without it their file is left out, and says so; on a CI
 * machine that is an error.
 */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('openssl', ['version'], { stdio: 'ignore' });
if (status !== 0) {
  const file = process.argv[1]?.split('/').slice(-2).join('/');
  process.stderr.write(`# ${file} is left out: openssl is not installed.\n`);
  process.exit(process.env.CI ? 1 : 0);
}
