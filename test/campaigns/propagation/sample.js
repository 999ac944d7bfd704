/** Measurements of propagation from made-up rows, concluded as real ones are. */

import { conclude } from '../../../src/campaigns/propagation/conclude.js';
import { createHistogram, recordMs } from '../../../src/common/histogram.js';
import { parseRequirement } from '../../../src/plan/requirements.js';
/** @import { Findings, Row } from '../../../src/campaigns/propagation/conclude.js' */
/** @import { CrlFacts, NodeFacts } from '../../../src/campaigns/propagation/propagate.js' */

/**
 * @param {number} certificate
 * @param {[number, number][]} intervals of each node, from when it was sent
 * @param {number} [revokeMs]
 * @returns {Row}
 */
export function revokedRow(certificate, intervals, revokeMs = 10) {
  return {
    certificate,
    outcome: 'followed',
    revokeMs,
    followedMs: Math.max(0, ...intervals.map(([, upperMs]) => upperMs - revokeMs)),
    nodes: intervals.map(([lowerMs, upperMs]) => ({ outcome: 'revoked', interval: { lowerMs, upperMs } })),
  };
}

/**
 * @param {object} [changes]
 * @param {Row[]} [changes.rows]
 * @param {string[]} [changes.require]
 * @param {Partial<CrlFacts>} [changes.crl]
 * @param {NodeFacts[]} [changes.nodes]
 * @param {Findings['watched']} [changes.watched]
 * @param {number[]} [changes.lags]
 * @param {boolean} [changes.interrupted]
 * @param {number} [changes.certificates]
 */
export function sampleOf({
  rows = [revokedRow(1, [[5, 30]])],
  require: texts = [],
  crl = {},
  nodes = [{ url: 'http://127.0.0.1:8200', version: '1.21.1', state: 'active' }],
  watched = nodes.map(() => ({
    answers: { good: 2 * rows.length, revoked: rows.length },
    counts: { sent: 2 * rows.length, missed: 0, skipped: 0 },
  })),
  lags = [0.4, 0.7, 1.2],
  interrupted = false,
  certificates = rows.length,
} = {}) {
  const lag = createHistogram();
  for (const ms of lags) recordMs(lag, ms);
  return conclude({
    plan: {
      dev: false,
      target: {
        url: 'http://127.0.0.1:8200',
        mount: 'pki_int',
        namespace: null,
        tls: {
          caCert: null,
          caPath: null,
          clientCert: null,
          clientKey: null,
          serverName: null,
          skipVerify: false,
        },
      },
      nodes: nodes.length === 1 ? [] : nodes.map(({ url }) => url),
      role: 'example-dot-com',
      cn: 'localhost',
      ttlMs: null,
      certificates,
      concurrency: 2,
      pauseMs: 100,
      pollMs: 20,
      giveUpMs: 60_000,
      timeoutMs: 10_000,
      seed: 7,
      requirements: texts.map(parseRequirement),
    },
    command: 'vault-pki-load propagation',
    startedAt: new Date('2026-11-22T12:00:00.000Z'),
    durationSeconds: 12.5,
    interrupted,
    found: {
      target: { product: 'Vault', version: '1.21.1' },
      crl: { autoRebuild: false, disabled: false, ocspExpiry: '12h', ...crl },
      nodes,
    },
    watched,
    lag,
    rows,
    environment: { node: 'v20.20.2', platform: 'linux', cpus: 2 },
  });
}

/** Three hundred at two nodes: the second lags behind by what grows with the number. */
export function clusterSample() {
  const rows = Array.from({ length: 300 }, (_, i) =>
    revokedRow(
      i + 1,
      [
        [i % 7, 9 + (i % 11)],
        [40 + i, 65 + i + (i % 13)],
      ],
      12 + (i % 5),
    ),
  );
  return sampleOf({
    rows,
    require: ['p99<2s', 'p50<10ms', 'errors<1%', 'max<380ms'],
    crl: { autoRebuild: true },
    nodes: [
      { url: 'http://10.0.0.1:8200', version: '1.21.1', state: 'active' },
      { url: 'http://10.0.0.2:8200', version: '1.21.1', state: 'standby' },
    ],
    watched: [
      { answers: { good: 600, revoked: 300 }, counts: { sent: 600, missed: 0, skipped: 0 } },
      { answers: { good: 3000, revoked: 310, timeout: 2 }, counts: { sent: 3012, missed: 4, skipped: 1 } },
    ],
  });
}

/** Much went wrong, and it was interrupted. */
export function troubledSample() {
  /** @type {Row[]} */
  const rows = [
    revokedRow(1, [[0, 8]]),
    revokedRow(2, [[20, 44]]),
    {
      certificate: 3,
      outcome: 'followed',
      revokeMs: 9,
      followedMs: 60_001,
      nodes: [{ outcome: 'never_revoked', interval: null }],
    },
    {
      certificate: 4,
      outcome: 'followed',
      revokeMs: 11,
      followedMs: 60_000,
      nodes: [{ outcome: 'never_answered', interval: null }],
    },
    {
      certificate: 5,
      outcome: 'not_good_before',
      revokeMs: null,
      followedMs: 0,
      nodes: [{ outcome: 'not_good_before', before: 'bad_signature', interval: null }],
    },
    {
      certificate: 6,
      outcome: 'issue_failed',
      failure: 'vault_permission_denied',
      revokeMs: null,
      followedMs: 0,
      nodes: [],
    },
    {
      certificate: 7,
      outcome: 'revoke_failed',
      failure: 'no_response',
      revokeMs: null,
      followedMs: 0,
      nodes: [],
    },
    {
      certificate: 8,
      outcome: 'followed',
      revokeMs: 10,
      followedMs: 300,
      nodes: [{ outcome: 'undecided', interval: null }],
    },
  ];
  return sampleOf({
    rows,
    require: ['p99<2s', 'errors<10%', 'min<1s'],
    crl: { autoRebuild: null, disabled: null, ocspExpiry: null },
    watched: [
      {
        answers: { good: 3010, revoked: 2, bad_signature: 1, connection_refused: 2999 },
        counts: { sent: 6005, missed: 900, skipped: 150 },
      },
    ],
    lags: [1, 2, 45],
    interrupted: true,
    certificates: 20,
  });
}
