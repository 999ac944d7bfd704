/** Removes what an engine leaves outside its own folder. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';

const HIERARCHIES = '/sys/fs/cgroup';

/**
 * Call it before the engine starts: what exists then belongs to others, and stays.
 * @param {{cgroups: string[], folders?: string[]}} left @returns {() => void} removes the rest
 */
export function cleanerOf({ cgroups, folders = [] }) {
  const paths = () => [
    ...readdirSync(HIERARCHIES).flatMap((hierarchy) =>
      cgroups.map((name) => `${HIERARCHIES}/${hierarchy}/${name}`),
    ),
    ...folders,
  ];
  const others = new Set(paths().filter((path) => existsSync(path)));
  return () => {
    for (const path of paths().filter((one) => existsSync(one) && !others.has(one))) {
      if (!path.startsWith(HIERARCHIES)) rmSync(path, { recursive: true, force: true });
      // Its files cannot be removed, only empty groups.
      else
        execFileSync('find', [path, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], {
          stdio: 'ignore',
        });
    }
  };
}
