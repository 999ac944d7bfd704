/** Declarations of the options of `propagation`; plan.js reads them. What it shares with all commands is declared there. */
import { commonOptions } from '../common-options.js';

const WHAT = 'Certificates';
const HOW = 'Polling';

const { url, dev, mount, namespace, timeout, seed, require: requirement } = commonOptions;

/** @type {Record<string, import('../options.js').OptionSpec>} */
export const propagationOptions = {
  certificates: {
    type: 'integer',
    group: WHAT,
    placeholder: 'N',
    default: 50,
    min: 1,
    max: 10_000,
    describe: 'How many to issue and revoke, one after the other or a few at once',
  },
  role: {
    type: 'text',
    group: WHAT,
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role to issue them with; it must store them',
  },
  cn: {
    type: 'text',
    group: WHAT,
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Their common name',
  },
  ttl: {
    type: 'duration',
    group: WHAT,
    placeholder: 'TIME',
    min: 1000,
    describe: 'Their lifetime: revoked ones stay on the CRL until then',
    defaultText: "the role's",
  },
  concurrency: {
    type: 'integer',
    group: WHAT,
    placeholder: 'N',
    default: 2,
    min: 1,
    max: 100,
    describe: 'Certificates under way at once; each is polled for on its own',
  },
  pause: {
    type: 'duration',
    group: WHAT,
    placeholder: 'TIME',
    default: '100ms',
    max: 86_400_000,
    describe: 'Wait for so long between one certificate and the next',
  },
  node: {
    type: 'url',
    group: HOW,
    placeholder: 'URL',
    repeatable: true,
    describe:
      'Address of a node whose OCSP responder is asked, URL/v1/MOUNT/ocsp; repeatable. Certificates are issued and revoked at --url [default: --url alone]',
  },
  poll: {
    type: 'duration',
    group: HOW,
    placeholder: 'TIME',
    default: '20ms',
    min: 1,
    max: 3_600_000,
    describe: 'Ask each node so often, whether or not it has answered what it was asked before',
  },
  'give-up': {
    type: 'duration',
    group: HOW,
    placeholder: 'TIME',
    default: '60s',
    min: 1,
    max: 86_400_000,
    describe: 'Count a certificate as never revoked so long after the revocation was answered',
  },
  url: { ...url, describe: 'Address of Vault or OpenBao, where certificates are issued and revoked' },
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
    describe: 'Seed of when within the first interval the polling of each certificate begins',
  },
  require: {
    ...requirement,
    describe:
      "A requirement on the delay until every node says revoked, e.g. 'p99<2s', 'max<10s', 'errors<1%'; repeatable",
  },
};
