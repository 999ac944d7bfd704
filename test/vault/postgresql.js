/** Starts a PostgreSQL server as Vault's storage: Debian's package, on loopback, in a temporary folder. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess, freePort } from './start.js';

const START_TIMEOUT_MS = 30_000;
const DEBIAN = '/usr/lib/postgresql';
const USER = 'vault';

/** https://developer.hashicorp.com/vault/docs/configuration/storage/postgresql */
const TABLE = `
CREATE TABLE vault_kv_store (
  parent_path TEXT COLLATE "C" NOT NULL, path TEXT COLLATE "C", key TEXT COLLATE "C", value BYTEA,
  CONSTRAINT pkey PRIMARY KEY (path, key)
);
CREATE INDEX parent_path_idx ON vault_kv_store (parent_path);`;

/** @returns {string | null} folder of its programs; null: not installed */
export function findPostgresql() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return (
    folders.find((folder) =>
      ['initdb', 'postgres', 'psql'].every((name) => existsSync(join(folder, name))),
    ) ?? null
  );
}

/** @param {string} programs see findPostgresql */
export async function startPostgresql(programs) {
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-postgresql-'));
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  const as = userOf(folder, passwordFile);
  const data = join(folder, 'data');
  const port = await freePort();
  const env = { PATH: process.env.PATH, LC_ALL: 'C', PGPASSWORD: password };
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`],
    {
      ...as,
      env,
      cwd: folder,
      stdio: 'pipe',
    },
  );
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder],
    {
      ...as,
      env,
      cwd: folder,
      stdio: 'ignore',
    },
  );
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const stop = async () => {
    process.removeListener('exit', killOnExit);
    // Fast shutdown: terminates sessions.
    await endProcess(child, 'SIGINT');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await makeTable(() =>
      execFileSync(
        join(programs, 'psql'),
        [
          '-h',
          '127.0.0.1',
          '-p',
          String(port),
          '-U',
          USER,
          '-d',
          'postgres',
          '-v',
          'ON_ERROR_STOP=1',
          '-c',
          TABLE,
        ],
        { env, stdio: 'pipe' },
      ),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** The storage part of Vault's configuration. */
    storage: {
      postgresql: {
        connection_url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres?sslmode=disable`,
      },
    },
    stop,
  };
}

/**
 * PostgreSQL does not run as root.
 *
 * @param {string[]} owned what its user must be able to read and write
 * @returns {{uid?: number, gid?: number}}
 */
function userOf(...owned) {
  if (process.getuid?.() !== 0) return {};
  const id = (/** @type {string} */ flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [id('-u'), id('-g')];
  for (const path of owned) chownSync(path, uid, gid);
  return { uid, gid };
}

/** @param {() => unknown} make fails until the server answers */
async function makeTable(make) {
  const until = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      make();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(200);
    }
  }
}
