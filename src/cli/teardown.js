/** `teardown`: takes away what `setup` has made, and nothing else. */
import { EXIT } from '../common/errors.js';
import { nameOption } from '../vault/setup/setup-plan.js';
import { runOnVault, vaultOptions } from './vault-command.js';

const EPILOGUE =
  'Deletes the mounts and the policy that setup marked under this name, with everything in them. Can be run again, also after a failed ' +
  'setup. Exit code 2 if anything is left under these names.';

/** @type {import('./declare.js').Command} */
export const command = {
  options: { ...nameOption, ...vaultOptions },
  examples: ['teardown', 'teardown --name load --format json'],
  epilogue: EPILOGUE,
  run(given) {
    /** @type {import('../vault/setup/teardown.js').TeardownReport} */
    const report = { gone: [], left: [] };
    return runOnVault({ name: 'teardown', specs: nameOption, given }, report, async (work) => {
      const { takeAway } = await import('../vault/setup/teardown.js');
      const { name } = work.options;
      const { gone, left } = await takeAway(work.client, name, work.say, report);
      const isEmpty = gone.length + left.length === 0;
      return {
        code: left.length === 0 ? EXIT.ok : EXIT.target,
        last: isEmpty ? `There is nothing of a set-up called ${name}.\n` : '',
      };
    });
  },
};
