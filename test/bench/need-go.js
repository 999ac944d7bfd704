/**
 * Skips a test file of the Go target without Linux and Go; on a CI machine that is an error.
 */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('go', ['version'], { stdio: 'ignore' });
if (process.platform !== 'linux' || status !== 0) {
  process.stderr.write(
    `# ${process.argv[1]?.split('/').slice(-2).join('/')} is skipped: it needs Linux and Go.\n`,
  );
  process.exit(process.env.CI ? 1 : 0);
}
