import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { followCertificate } from '../../../src/campaigns/propagation/certificate.js';
import { MAX_IN_FLIGHT } from '../../../src/campaigns/propagation/watch.js';
import { PkiLoadError } from '../../../src/common/errors.js';
import { createDevServer } from '../../../src/dev/server.js';
import { createVaultClient } from '../../../src/vault/client.js';
import { createFakeTime } from './fake-time.js';

/** @import { Row } from '../../../src/campaigns/propagation/certificate.js' */

/** What a CA answers when it issues: real certificates, made once. @type {Record<string, any>} */
let issued;

before(async () => {
  const server = await createDevServer({ port: 0 });
  const client = createVaultClient(server);
  issued = (await client.write('pki_int/issue/example-dot-com-ec', { common_name: 'localhost' })).data ?? {};
  await client.close();
  await server.close();
});

/**
 * @typedef {object} NodeScript a scripted node
 * @property {number} [effect] when the revocation is in effect there, from its sending; none: never
 * @property {() => number} [wait] ms before a request is on the wire
 * @property {number | (() => number)} [there] ms that a request takes to be judged
 * @property {number | (() => number)} [back] ms that its answer takes
 * @property {string} [look] what it says beforehand
 * @property {(askedMs: number) => string | null} [says] overrides what it says afterwards, by when it judges, from the sending
 */
/** @typedef {{revokeMs?: number, restMs?: number, issueFails?: string, issuedAs?: Record<string, any>, aboutFails?: Error, revokeFails?: string,
 *   expires?: boolean, giveUpMs?: number, pollMs?: number, stopAt?: number, stopWhileIssued?: number, early?: number}} Script `restMs`: from the head of the
 *   revocation's answer to its end; `issuedAs`: other fields */

/** @param {number | (() => number)} value */
const timeOf = (value) => (typeof value === 'function' ? value() : value);

/** @param {NodeScript[]} scripts @param {Script} [script] */
async function follow(
  scripts,
  {
    revokeMs = 30,
    restMs = 0,
    issueFails,
    issuedAs = {},
    aboutFails,
    revokeFails,
    expires = false,
    giveUpMs = 1000,
    pollMs = 20,
    stopAt,
    stopWhileIssued,
    early = 0,
  } = {},
) {
  const time = createFakeTime();
  const stop = new AbortController();
  /** When the revocation was sent. @type {number | null} */
  let sentMs = null;
  /** @type {string[]} */
  const calls = [];
  const wait = (/** @type {number} */ ms) =>
    new Promise((resolve) => void time.setTimer(() => resolve(null), ms));
  const client = {
    /** @param {string} path @param {Record<string, any>} [data] @param {() => void} [onHead] */
    async write(path, data = {}, onHead = undefined) {
      calls.push(path);
      if (path === 'pki_int/issue/web') {
        if (stopWhileIssued !== undefined) time.setTimer(() => stop.abort(), stopWhileIssued);
        await wait(50);
        if (issueFails) throw new PkiLoadError(issueFails, 'It is refused.');
        assert.deepEqual(data, { common_name: 'localhost' });
        return { data: { ...issued, ...issuedAs }, auth: null, warnings: [] };
      }
      assert.equal(path, 'pki_int/revoke');
      assert.equal(data.serial_number, issuedAs.serial_number ?? issued.serial_number);
      sentMs = time.now();
      if (stopAt !== undefined) time.setTimer(() => stop.abort(), stopAt);
      await wait(revokeMs);
      onHead?.();
      if (restMs > 0) await wait(restMs);
      if (revokeFails) throw new PkiLoadError(revokeFails, 'It is refused.');
      const warnings = ['certificate with serial 1a already expired; refusing to add to CRL'];
      if (expires) return { data: null, auth: null, warnings };
      return { data: { revocation_time: 1_795_388_821 }, auth: null, warnings: [] };
    },
  };
  const [underWay, mostUnderWay] = [scripts.map(() => 0), scripts.map(() => 0)];
  const nodes = scripts.map((node, i) => ({
    responder: {
      query(/** @type {any} */ _query, /** @type {(reply: any) => void} */ onReply) {
        underWay[i]++;
        mostUnderWay[i] = Math.max(mostUnderWay[i], underWay[i]);
        const askedMs = time.now() + (sentMs === null ? 0 : (node.wait?.() ?? 0));
        const [there, back] = [timeOf(node.there ?? 2), timeOf(node.back ?? 3)];
        const isLook = sentMs === null;
        const judged = askedMs + there - Number(sentMs);
        const said = isLook
          ? (node.look ?? 'good')
          : (node.says?.(judged) ??
            (judged >= (node.effect ?? Number.POSITIVE_INFINITY) ? 'revoked' : 'good'));
        time.setTimer(
          () => {
            underWay[i]--;
            onReply({ outcome: said, sentMs: askedMs, arrivedMs: time.now() });
          },
          askedMs - time.now() + there + back,
        );
      },
      close: async () => {},
    },
    answers: /** @type {Record<string, number>} */ ({}),
    counts: { sent: 0, missed: 0, skipped: 0 },
  }));
  /** @type {any} */
  const plan = {
    target: { mount: 'pki_int' },
    role: 'web',
    cn: 'localhost',
    ttlMs: null,
    pollMs,
    giveUpMs,
    timeoutMs: 100,
    seed: 1,
  };
  const row = await time.runTo(
    followCertificate(1, client, {
      plan,
      nodes,
      clock: { ...time, setTimer: (callback, ms) => time.setTimer(callback, ms > 100 ? ms - early : ms) },
      onLag: () => {},
      buildQuery() {
        if (aboutFails !== undefined) throw aboutFails;
        return /** @type {any} */ ({});
      },
      stop: stop.signal,
    }),
  );
  return {
    row: /** @type {Row} */ (row),
    nodes,
    calls,
    time,
    mostUnderWay,
  };
}

/** @type {[string, NodeScript[], Script, string, string[]][]} outcome of the certificate, and of each node */
const OUTCOMES = [
  ['revoked some time after the response', [{ effect: 300 }], {}, 'followed', ['revoked']],
  ['revoked before the response', [{ effect: 5 }], { revokeMs: 200 }, 'followed', ['revoked']],
  [
    'one node at once, another later',
    [{ effect: 1 }, { effect: 700 }],
    {},
    'followed',
    ['revoked', 'revoked'],
  ],
  ['never revoked: still good at --give-up', [{}], {}, 'followed', ['never_revoked']],
  ['unknown counts as not revoked', [{ says: () => 'unknown' }], {}, 'followed', ['never_revoked']],
  [
    'only errors since the revocation',
    [{ says: () => 'connection_refused' }],
    {},
    'followed',
    ['never_answered'],
  ],
  [
    'a failed check does not count as a status',
    [{ says: () => 'bad_signature' }],
    {},
    'followed',
    ['never_answered'],
  ],
  [
    'good until the response to the revocation, then silent',
    [{ says: (ms) => (ms < 20 ? 'good' : 'timeout') }],
    { revokeMs: 60 },
    'followed',
    ['never_answered'],
  ],
  [
    'good once after the response, then down until --give-up',
    [{ says: (ms) => (ms < 100 ? 'good' : 'connection_refused') }],
    {},
    'followed',
    ['never_answered'],
  ],
  [
    'good until shortly before --give-up',
    [{ says: (ms) => (ms < 950 ? 'good' : 'connection_refused') }],
    {},
    'followed',
    ['never_revoked'],
  ],
  [
    'errors in between do not matter',
    [{ effect: 200, says: (ms) => (ms < 100 ? 'timeout' : null) }],
    {},
    'followed',
    ['revoked'],
  ],
  [
    'one node reports it, another never does',
    [{ effect: 100 }, {}],
    {},
    'followed',
    ['revoked', 'never_revoked'],
  ],
  [
    'a node that was not good before is not followed',
    [{ effect: 100 }, { look: 'unknown' }],
    {},
    'followed',
    ['revoked', 'not_good_before'],
  ],
  [
    'no node was good before',
    [{ look: 'revoked' }, { look: 'connection_refused' }],
    {},
    'not_good_before',
    ['not_good_before', 'not_good_before'],
  ],
  ['issue fails', [{}], { issueFails: 'vault_permission_denied' }, 'issue_failed', []],
  ['revoke fails', [{ effect: 1 }], { revokeFails: 'vault_bad_request' }, 'revoke_failed', []],
  ['a token that ended', [{ effect: 1 }], { revokeFails: 'token_invalid' }, 'undecided', []],
  ['a certificate that expired before', [{ effect: 1 }], { expires: true }, 'undecided', []],
  ['a call that the tool aborted', [{ effect: 1 }], { revokeFails: 'aborted' }, 'undecided', []],
  [
    'interrupted while polling',
    [{ effect: 900 }, { effect: 50 }],
    { stopAt: 400 },
    'followed',
    ['undecided', 'revoked'],
  ],
];

for (const [sentence, scripts, script, outcome, nodes] of OUTCOMES) {
  test(sentence, async () => {
    const { row, calls, time } = await follow(scripts, script);
    assert.equal(row.outcome, outcome);
    const outcomes = row.nodes.map((node) => node.outcome);
    assert.deepEqual(outcomes, nodes);
    assert.ok(row.nodes.every((node) => (node.interval !== null) === (node.outcome === 'revoked')));
    if (script.issueFails) assert.equal(row.failure, script.issueFails);
    // What is not followed is revoked all the same.
    assert.equal(calls.includes('pki_int/revoke'), outcome !== 'issue_failed');
    const unrevoked = script.revokeFails === 'aborted' ? 'possibly revoked' : 'valid';
    assert.equal(
      row.left,
      script.issueFails || script.expires ? 'none' : script.revokeFails ? unrevoked : 'revoked',
    );
    assert.equal(time.waiting(), 0, 'nothing goes on afterwards');
  });
}

/** @type {[string, Script, string, string][]} what came of issuing, code, what is left */
const NOT_ISSUED = [
  ['refused', { issueFails: 'vault_bad_request' }, 'vault_bad_request', 'none'],
  ['connection refused', { issueFails: 'connection_refused' }, 'connection_refused', 'none'],
  ['no response in time', { issueFails: 'no_response' }, 'no_response', 'unknown'],
  ['connection lost', { issueFails: 'connection_reset' }, 'connection_reset', 'unknown'],
  ['truncated response', { issueFails: 'truncated' }, 'truncated', 'unknown'],
  ['response without a serial number', { issuedAs: { serial_number: undefined } }, 'not_issued', 'unknown'],
  ['serial number of 8 MB', { issuedAs: { serial_number: 'a:'.repeat(4e6) } }, 'not_issued', 'unknown'],
  ['another serial number', { issuedAs: { serial_number: 'aa:bb' } }, 'serial_mismatch', 'revoked'],
  ['response without a certificate', { issuedAs: { certificate: 'none' } }, 'no_certificate', 'revoked'],
  ['response without the issuer', { issuedAs: { issuing_ca: '' } }, 'certificate_file_empty', 'revoked'],
  ['no query can be built', { aboutFails: new TypeError('x') }, 'certificate_unreadable', 'revoked'],
  [
    'revoke fails, too',
    { issuedAs: { certificate: 'none' }, revokeFails: 'vault_internal_error' },
    'no_certificate',
    'possibly revoked',
  ],
  [
    'revoke is refused, too',
    { issuedAs: { certificate: 'none' }, revokeFails: 'vault_permission_denied' },
    'no_certificate',
    'valid',
  ],
];
for (const [sentence, script, failure, left] of NOT_ISSUED) {
  test(`failed issue: ${sentence}: ${left}`, async () => {
    const { row, calls } = await follow([{}], script);
    assert.deepEqual([row.outcome, row.failure, row.left], ['issue_failed', failure, left]);
    assert.equal(calls.includes('pki_int/revoke'), /valid|revoked/.test(left));
  });
}

test('a certificate in an array is none', async () => {
  const { row } = await follow([{}], { issuedAs: { certificate: [issued.certificate] } });
  assert.deepEqual([row.outcome, row.failure], ['issue_failed', 'certificate_file_empty']);
});

test('an aborted call to issue is undecided, and may have taken effect', async () => {
  const { row } = await follow([{}], { issueFails: 'aborted' });
  assert.deepEqual([row.outcome, row.failure, row.left], ['undecided', undefined, 'unknown']);
});

test('interrupted before the revocation: still revokes the certificate', async () => {
  const { row, calls } = await follow([{ effect: 1 }], { stopWhileIssued: 10 });
  assert.deepEqual([row.outcome, row.left, row.nodes], ['undecided', 'revoked', []]);
  assert.deepEqual(calls, ['pki_int/issue/web', 'pki_int/revoke']);
  const refused = await follow([{ effect: 1 }], { stopWhileIssued: 10, revokeFails: 'aborted' });
  assert.deepEqual([refused.row.outcome, refused.row.left], ['undecided', 'possibly revoked']);
});

test('a --give-up timer that fires slightly early still means never revoked', async () => {
  const { row } = await follow([{}], { giveUpMs: 500, early: 0.9 });
  assert.equal(row.nodes[0].outcome, 'never_revoked');
});

test('both bounds, to the millisecond', async () => {
  // Polls are due at 20 k + phase; judged 2 ms later, answered 3 ms after that.
  const { row, nodes } = await follow([{ effect: 100 }], { revokeMs: 30 });
  const [{ interval }] = row.nodes;
  assert.ok(interval !== null);
  assert.equal(row.revokeMs, 30);
  assert.ok(interval.lowerMs + 2 < 100 && interval.lowerMs + 22 >= 100, `${interval.lowerMs}`);
  assert.ok(Math.abs(interval.upperMs - interval.lowerMs - 25) < 1e-9, 'an interval, the way there and back');
  // Of the polls before it, and the look.
  assert.equal(nodes[0].answers.good, 1 + Math.floor(interval.lowerMs / 20) + 1);
  assert.equal(nodes[0].counts.sent + 1, nodes[0].answers.good + nodes[0].answers.revoked);
});

test('the response to a revocation counts from its head, however late the body', async () => {
  const { row } = await follow([{ effect: 100 }], { revokeMs: 30, restMs: 400 });
  assert.equal(row.revokeMs, 30);
  assert.ok(row.followedMs >= 400, `${row.followedMs}`);
  const given = await follow([{}], { revokeMs: 30, restMs: 400, giveUpMs: 1000 });
  assert.ok(given.row.followedMs >= 1000 && given.row.followedMs < 1010, `${given.row.followedMs}`);
});

test('the first poll has a different phase for each certificate and node', async () => {
  const { row } = await follow([{ effect: 0 }, { effect: 0 }, { effect: 0 }]);
  const uppers = row.nodes.map(({ interval }) => Number(interval?.upperMs));
  assert.equal(new Set(uppers).size, 3);
  assert.ok(
    uppers.every((ms) => ms >= 5 && ms < 25),
    `${uppers}`,
  );
});

test('waits for a good response overtaken by revoked, which raises the lower bound', async () => {
  let asked = 0;
  // The second poll is judged before it came about, but its answer is slow; the third overtakes it.
  const { row } = await follow([{ effect: 45, there: 2, back: () => (asked++ === 2 ? 200 : 3) }]);
  const [{ interval }] = row.nodes;
  assert.ok(interval !== null && interval.lowerMs > 20 && interval.upperMs < 70, JSON.stringify(interval));
});

for (const revokeMs of [30, 300]) {
  test(`good, sent after a revoked response: polls on, until revoked again; call of ${revokeMs} ms`, async () => {
    // Two nodes behind one URL. The look, and three polls 20 ms apart, of which the second waits for a connection.
    const [said, waits, backs] = [
      ['revoked', 'good', 'unknown'],
      [0, 40],
      [3, 50],
    ];
    const { row, nodes } = await follow(
      [
        {
          says: () => said.shift() ?? 'revoked',
          wait: () => waits.shift() ?? 0,
          back: () => backs.shift() ?? 3,
        },
      ],
      { revokeMs },
    );
    const [{ outcome, interval }] = row.nodes;
    assert.equal(outcome, 'revoked');
    assert.ok(interval !== null && interval.lowerMs >= 60 && interval.lowerMs < 80, JSON.stringify(interval));
    const after = interval.upperMs - interval.lowerMs;
    assert.ok(after > 5 && after < (revokeMs === 30 ? 50 : 300), `${after}`);
    assert.deepEqual(nodes[0].answers, { good: 2, revoked: 2, unknown: 1 });
  });
}

test('good after revoked until --give-up: never revoked', async () => {
  const said = ['revoked'];
  const { row } = await follow([
    { says: () => said.shift() ?? 'good', wait: () => (said.length === 0 ? 60 : 0), back: 40 },
  ]);
  assert.deepEqual(row.nodes, [{ outcome: 'never_revoked', interval: null }]);
});

test('a slow node: limits the polls in flight per certificate, and skips the rest', async () => {
  const { row, nodes, mostUnderWay } = await follow([{ effect: 500, back: 700 }], { giveUpMs: 5000 });
  assert.equal(row.nodes[0].outcome, 'revoked');
  assert.deepEqual(mostUnderWay, [MAX_IN_FLIGHT]);
  const [{ counts }] = nodes;
  assert.ok(counts.skipped > 0 && counts.missed === 0, JSON.stringify(counts));
});

test('--give-up counts from the response', async () => {
  const { row } = await follow([{}], { revokeMs: 100, giveUpMs: 500 });
  assert.ok(row.followedMs >= 500 && row.followedMs < 510, `${row.followedMs}`);
});

test('the true delay is in the interval, whatever the node and the network do', async () => {
  const delay = fc.integer({ min: 0, max: 90 });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 400 }),
      fc.infiniteStream(delay),
      fc.integer({ min: 0, max: 300 }),
      async (effect, delays, revokeMs) => {
        const next = () => Number(delays.next().value);
        const { row } = await follow([{ effect, there: next, back: next }], { revokeMs });
        const [{ interval }] = row.nodes;
        assert.ok(interval !== null && interval.lowerMs <= effect && effect <= interval.upperMs);
      },
    ),
    { numRuns: 60, seed: 8 },
  );
});
