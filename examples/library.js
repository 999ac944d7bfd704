/**
 * The library: a plan, a run, a result. Requests the status of one certificate for a few seconds, from the embedded PKI
 * server, or from a real Vault if VAULT_ADDR and VAULT_TOKEN are set.
 *
 *     node examples/library.js
 */
import { createPlan, EXIT, PkiLoadError, readEnvironment, renderDocument, run } from 'vault-pki-load';

const environment = readEnvironment();
const where = environment.address === null ? { dev: true } : { url: environment.address };

try {
  const plan = await createPlan('ocsp', {
    ...where,
    rate: '20/s',
    duration: process.env.DURATION ?? '6s',
    require: ['rate>=1000/h', 'p95<1s'],
  });
  const result = await run(plan, {
    token: environment.token,
    onEvent(event) {
      if (event.type === 'interval') console.error(`${event.succeeded} good responses so far`);
    },
  });

  process.stdout.write(await renderDocument('text', result));

  const { measurement, requirements, latencyMs } = result;
  for (const { text, verdict, reason } of requirements) console.log(`${text}: ${verdict}. ${reason}`);
  console.log(`p99 ${latencyMs.response.p99} ms; the measurement is ${measurement.verdict}`);
  if (measurement.verdict === 'invalid') process.exitCode = EXIT.invalidMeasurement;
  else if (requirements.some(({ verdict }) => verdict !== 'met')) process.exitCode = EXIT.requirement;
} catch (error) {
  if (!(error instanceof PkiLoadError)) throw error;
  console.error(`${error.code}: ${error.full}`);
  process.exitCode = error.exitCode;
}
