#!/usr/bin/env node
try {
  const { main } = await import('../src/cli/main.js');
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Only loading the program can fail here, e.g. with too few file descriptors.
  process.stderr.write(
    `vault-pki-load: The program cannot be loaded: ${/** @type {Error} */ (error).message}.\n`,
  );
  process.exitCode = 1;
}
