/** Declarations of the options of `propagation`; plan.js reads them. What it shares with all commands is declared there. */
import { commonOptions } from '../../plan/common-options.js';

const WHAT = 'Certificates';
const HOW = 'Polling';

const { url, dev, mount, namespace, timeout, seed, require: requirement } = commonOptions;

/** @type {Record<string, import('../../common/options.js').OptionSpec>} */
export const propagationOptions = {
  certificates: {
    type: 'integer',
    group: WHAT,
    placeholder: 'N',
    default: 50,
    min: 1,
    max: 10_000,
    describe: 'Certificates to issue and revoke',
  },
  role: {
    type: 'text',
    group: WHAT,
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role of the certificates; it must store them',
  },
  cn: {
    type: 'text',
    group: WHAT,
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Common name of the certificates',
  },
  ttl: {
    type: 'duration',
    group: WHAT,
    placeholder: 'TIME',
    min: 1000,
    describe: 'Lifetime; revoked certificates stay on the CRL until then',
    defaultText: "the role's",
  },
  concurrency: {
    type: 'integer',
    group: WHAT,
    placeholder: 'N',
    default: 2,
    min: 1,
    max: 100,
    describe: 'Certificates in progress at once',
  },
  pause: {
    type: 'duration',
    group: WHAT,
    placeholder: 'TIME',
    default: '100ms',
    max: 86_400_000,
    describe: 'Wait this long between certificates',
  },
  node: {
    type: 'url',
    group: HOW,
    placeholder: 'URL',
    repeatable: true,
    describe: 'Node to poll at URL/v1/MOUNT/ocsp; repeatable [default: --url]',
  },
  poll: {
    type: 'duration',
    group: HOW,
    placeholder: 'TIME',
    default: '20ms',
    min: 1,
    max: 3_600_000,
    describe: 'Poll each node this often, answered or not',
  },
  'give-up': {
    type: 'duration',
    group: HOW,
    placeholder: 'TIME',
    default: '60s',
    min: 1,
    max: 86_400_000,
    describe: 'Count a certificate as never revoked this long after the response',
  },
  url: { ...url, describe: 'Vault or OpenBao that issues and revokes' },
  dev,
  mount,
  namespace,
  ...Object.fromEntries(
    ['ca-cert', 'ca-path', 'client-cert', 'client-key', 'tls-server-name', 'tls-skip-verify'].map((name) => [
      name,
      commonOptions[name],
    ]),
  ),
  timeout: { ...timeout, group: HOW },
  seed: {
    ...seed,
    group: HOW,
    describe: 'Seed of the start times of polling',
  },
  require: {
    ...requirement,
    describe: "Requirement on the delay to the last node: 'p99<2s', 'errors<1%'; repeatable",
  },
};
