/**
 * Skips a test file of the Go target if Linux or Go is missing; in CI, fails instead.
 */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('go', ['version'], { stdio: 'ignore' });
if (process.platform !== 'linux' || status !== 0) {
  process.stderr.write(
    `# ${process.argv[1]?.split('/').slice(-2).join('/')} is skipped: it needs Linux and Go.\n`,
  );
  process.exit(process.env.CI ? 1 : 0);
}
