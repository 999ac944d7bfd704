import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeHistogram } from '../../../src/common/histogram.js';
import { outcomeOf } from '../../../src/result/propagation/judge-delays.js';
import { checkPropagation, validatePropagation } from '../../../src/result/propagation/propagation-schema.js';
import { parseDocument } from '../../../src/result/read-document.js';
import { validatorOf } from '../../json-schema.js';
import { clusterSample, revokedRow, sampleOf, troubledSample } from './sample.js';

/** @import { Row } from '../../../src/campaigns/propagation/conclude.js' */

const problemIn = await validatorOf('propagation');

for (const [name, sample] of Object.entries({
  'one revocation': sampleOf(),
  'none started': sampleOf({ rows: [], interrupted: true, certificates: 5 }),
  'two nodes': clusterSample(),
  'much that went wrong': troubledSample(),
})) {
  test(`${name}: matches the schema, is consistent, and survives a round trip`, () => {
    assert.equal(problemIn(sample), null);
    assert.deepEqual([...checkPropagation(sample)], []);
    const bytes = Buffer.from(JSON.stringify(sample));
    assert.deepEqual(parseDocument(bytes, 'p.json'), JSON.parse(bytes.toString()));
  });
}

/** A histogram keeps three digits. @param {(number | null)[]} values */
const rounded = (values) => values.map((value) => Math.round(Number(value)));

describe('the figures', () => {
  test('both bounds since the response and since the request, and the width between them', () => {
    const { everywhere, revokeMs, nodes } = sampleOf({
      rows: [revokedRow(1, [[20, 44]], 10), revokedRow(2, [[5, 30]], 12)],
    });
    assert.deepEqual(
      rounded([everywhere.sinceAnswered.lower.min, everywhere.sinceAnswered.lower.max]),
      [0, 10],
    );
    assert.deepEqual(
      rounded([everywhere.sinceAnswered.upper.min, everywhere.sinceAnswered.upper.max]),
      [18, 34],
    );
    assert.deepEqual(rounded([everywhere.sinceSent.lower.min, everywhere.sinceSent.lower.max]), [5, 20]);
    assert.deepEqual(rounded([everywhere.sinceSent.upper.min, everywhere.sinceSent.upper.max]), [30, 44]);
    assert.deepEqual(rounded([everywhere.widthMs.min, everywhere.widthMs.max]), [24, 25]);
    assert.deepEqual(rounded([revokeMs.min, revokeMs.max, revokeMs.count]), [10, 12, 2]);
    assert.deepEqual(nodes[0].delay, everywhere);
    const histogram = decodeHistogram(String(everywhere.sinceAnswered.upper.histogram));
    assert.equal(histogram.totalCount, 2);
  });

  test('before the response: counted, and 0 since the response', () => {
    const { everywhere } = sampleOf({ rows: [revokedRow(1, [[2, 40]], 60), revokedRow(2, [[2, 61]], 60)] });
    assert.deepEqual([everywhere.revoked, everywhere.beforeAnswered], [2, 1]);
    assert.deepEqual(
      rounded([everywhere.sinceAnswered.upper.min, everywhere.sinceAnswered.upper.max]),
      [0, 1],
    );
  });

  test('everywhere: the later of two nodes, without certificates that one of them never reported', () => {
    const half = revokedRow(3, [[1, 2]]);
    half.nodes.push({ outcome: 'never_revoked', interval: null });
    const { everywhere, nodes, certificates } = sampleOf({
      rows: [
        revokedRow(1, [
          [1, 20],
          [3, 15],
        ]),
        revokedRow(2, [
          [0, 11],
          [50, 71],
        ]),
        half,
      ],
      nodes: [
        { url: 'http://a', version: null, state: null },
        { url: 'http://b', version: null, state: null },
      ],
    });
    assert.deepEqual(rounded([everywhere.sinceSent.lower.min, everywhere.sinceSent.upper.min]), [3, 20]);
    assert.deepEqual(rounded([everywhere.sinceSent.lower.max, everywhere.sinceSent.upper.max]), [50, 71]);
    const told = nodes.map(({ outcomes }) => outcomes);
    assert.deepEqual(told, [{ revoked: 3 }, { revoked: 2, never_revoked: 1 }]);
    assert.deepEqual(certificates.outcomes, { revoked: 2, never_revoked: 1 });
    assert.equal(everywhere.revoked, 2);
  });
});

/** @type {[string, Parameters<typeof sampleOf>[0], 'valid' | 'invalid', string[]][]} */
const VERDICTS = [
  ['punctual polls, valid responses', {}, 'valid', []],
  ['1 % of the polls missed', { watched: [watched({ sent: 990, missed: 10 })] }, 'valid', []],
  ['2 % of the polls missed', { watched: [watched({ sent: 980, missed: 20 })] }, 'valid', ['poll_lag']],
  ['over 10 % of polls missed', { watched: [watched({ sent: 890, missed: 110 })] }, 'invalid', ['poll_lag']],
  [
    '2 % skipped, as too many were in flight',
    { watched: [watched({ sent: 980, skipped: 20 })] },
    'valid',
    ['slow_answers'],
  ],
  [
    'the bounds are valid, however many were skipped',
    { watched: [watched({ sent: 80, skipped: 920 })] },
    'valid',
    ['slow_answers'],
  ],
  ['2 % are errors', { watched: [watched({ sent: 98 }, { timeout: 2 })] }, 'valid', ['failed_answers']],
  ['unknown is a valid status', { watched: [watched({ sent: 90 }, { unknown: 9 })] }, 'valid', []],
  ['no certificate', { rows: [], certificates: 5, watched: [watched({})] }, 'invalid', ['nothing_measured']],
  [
    'none could be issued',
    {
      rows: [
        {
          certificate: 1,
          outcome: 'issue_failed',
          failure: 'no_response',
          revokeMs: null,
          followedMs: 0,
          nodes: [],
        },
      ],
    },
    'invalid',
    ['nothing_measured'],
  ],
  [
    'never revoked is a measurement',
    { rows: [{ ...revokedRow(1, []), nodes: [{ outcome: 'never_revoked', interval: null }] }] },
    'valid',
    [],
  ],
];

/** @param {{sent?: number, missed?: number, skipped?: number}} counts @param {Record<string, number>} [other] answers */
function watched({ sent = 0, missed = 0, skipped = 0 }, other = {}) {
  return { answers: { good: sent, revoked: 1, ...other }, counts: { sent: sent, missed, skipped } };
}

for (const [sentence, changes, verdict, codes] of VERDICTS) {
  test(`${sentence}: ${verdict}`, () => {
    const { measurement } = sampleOf(changes);
    assert.equal(measurement.verdict, verdict);
    const told = measurement.reasons.map(({ code }) => code);
    assert.deepEqual(told, codes);
    assert.ok(
      measurement.reasons.every(({ text, remedy }) => /\.$/.test(text) && /\.$/.test(String(remedy))),
    );
  });
}

const undecided = (/** @type {number} */ n) => ({
  ...revokedRow(n, []),
  nodes: [{ outcome: /** @type {const} */ ('undecided'), interval: null }],
});
test('a certificate that was not followed keeps its outcome', () => {
  const outcomes = /** @type {const} */ (['undecided', 'issue_failed', 'revoke_failed']);
  assert.deepEqual(
    outcomes.map((outcome) => outcomeOf({ outcome, nodes: [] })),
    outcomes,
  );
});

const failed = (/** @type {number} */ n) => ({
  ...revokedRow(n, []),
  outcome: /** @type {const} */ ('issue_failed'),
});
const never = (/** @type {number} */ n) => ({
  ...revokedRow(n, []),
  followedMs: 60_000,
  nodes: [{ outcome: /** @type {const} */ ('never_revoked'), interval: null }],
});
/** Since the response, ms. @param {number} n */
const many = (n, upper = 100, lower = -5) =>
  Array.from({ length: n }, (_, i) => revokedRow(i + 1, [[lower + 10, upper + 10]]));

/** @type {[string, string, Row[], string, RegExp][]} */
const REQUIREMENTS = [
  [
    'enough, and all below',
    'p99<2s',
    many(300),
    'met',
    /^p99 is 100 ms, 1\.90 s \(95 %\) below .* at 95 % confidence it is at most 100 ms\.$/,
  ],
  [
    'the limit lies between the bounds',
    'p99<90ms',
    many(300),
    'not proven',
    /^p99 is 100 ms, 10\.0 ms \(11\.1 %\) above .* may be the time from one poll to the response to the next: poll more often/,
  ],
  ['the lower bounds are above the limit', 'p99<90ms', many(300, 100, 95), 'not met', /^p99 is 100 ms/],
  ['too few', 'p99<2s', many(50), 'not proven', /50 revocations are too few .* 299 are needed\.$/],
  ['max is as observed', 'max<102ms', many(3), 'met', /it describes this run only/],
  [
    'max is not met with one never reported',
    'max<2s',
    [...many(20), never(21)],
    'not met',
    /^Max is 60\.0 s/,
  ],
  [
    'one never reported counts as slower than any limit',
    'p50<1ms',
    [...many(20, 100, 50), never(3)],
    'not met',
    /1 of 21 revocations were not reported by every node and count as slower/,
  ],
  ['errors', 'errors<=0', [...many(20), never(21)], 'not met', /4\.76 % of revocations failed \(1 of 21\)/],
  ['no error', 'errors<=0', many(20), 'met', /^0 % of revocations failed/],
  [
    'undecided certificates that cannot change the verdict',
    'p50<2s',
    [...many(100), undecided(101)],
    'met',
    /p50/,
  ],
  [
    'undecided certificates that could change the verdict',
    'max<2s',
    [...many(20), undecided(21)],
    'not proven',
    /But 1 more was undecided\.$/,
  ],
  [
    'a certificate that was not issued has no delay',
    'max<2s',
    [...many(20), failed(21)],
    'not proven',
    /^Max is 100 ms.* But 1 more was not measured\.$/,
  ],
  ['but is an error', 'errors<=0', [...many(20), failed(21)], 'not met', /\(1 of 21\)/],
  [
    'not met with or without the undecided ones',
    'max<20ms',
    [...many(20, 100, 50), undecided(21)],
    'not met',
    /5 times the limit/,
  ],
  ['nothing measured', 'p99<2s', [], 'not proven', /Nothing was measured/],
  [
    'a mean, of which the longest may not have been seen: 1 of 100 may take as long as the tool would have followed it',
    'mean<1s',
    many(50),
    'not proven',
    /between .* more revocations, or a shorter --give-up, would decide it/,
  ],
  ['a mean, of many', 'mean<1s', many(1000), 'met', /at 95 % confidence it is at most 3\d\d ms/],
];

for (const [sentence, text, rows, verdict, reason] of REQUIREMENTS) {
  test(`${text}: ${sentence}: ${verdict}`, () => {
    const [judged] = sampleOf({ rows, require: [text], watched: [watched({})] }).requirements;
    assert.equal(judged.verdict, verdict, judged.reason);
    assert.match(judged.reason, reason);
    assert.doesNotMatch(judged.reason, /request/);
  });
}

/** @type {[string, string, number[], string][]} */
const LATE = [
  ['p99<120ms', 'by less than what is left to the limit', [1, 2, 15], 'met'],
  ['p99<120ms', 'by more than what is left to the limit', [1, 2, 25], 'not proven'],
  ['errors<=0', 'no matter of time', [1, 2, 25], 'met'],
];

for (const [text, sentence, lags, verdict] of LATE) {
  test(`${text}, with late polls: ${sentence}: ${verdict}`, () => {
    const [judged] = sampleOf({
      rows: many(300),
      require: [text],
      watched: [watched({})],
      lags,
    }).requirements;
    assert.equal(judged.verdict, verdict, judged.reason);
    const because =
      /But polls were up to 25\.0 ms late: if responses .* were read as late, the requirement would not be met\.$/;
    assert.equal(because.test(judged.reason), verdict === 'not proven', judged.reason);
  });
}

test('what is not met is not met however late', () => {
  const rows = many(300, 100, 95);
  const [judged] = sampleOf({ rows, require: ['p99<90ms'], watched: [watched({})], lags: [25] }).requirements;
  assert.equal(judged.verdict, 'not met', judged.reason);
});

test('an invalid measurement meets no requirement', () => {
  const { requirements } = sampleOf({
    rows: many(300),
    require: ['p99<2s'],
    watched: [watched({ sent: 10, missed: 90 })],
  });
  assert.equal(requirements[0].verdict, 'not proven');
});

test('a row without nodes is not read again for each node', () => {
  const failed = troubledSample().rows.find(({ nodes }) => nodes.length === 0);
  const sample = sampleOf({ rows: [/** @type {Row} */ (failed)] });
  let read = 0;
  const get = () => {
    read++;
    return [];
  };
  const row = Object.defineProperty({ ...sample.rows[0] }, 'nodes', { get });
  const nodes = Array(100).fill(sample.nodes[0]);
  assert.deepEqual([...checkPropagation({ ...sample, rows: [row], nodes })], []);
  assert.ok(read < 50, `${read} times`);
});

/** @type {[string, (sample: any) => void, RegExp][]} */
const BROKEN = [
  [
    'a count',
    (one) => {
      one.everywhere.revoked = 9;
    },
    /everywhere\.revoked is 9, but its rows have 1/,
  ],
  [
    'an interval',
    (one) => {
      one.rows[0].nodes[0].interval = { lowerMs: 9, upperMs: 1 };
    },
    /an interval ends before it begins/,
  ],
  [
    'answers',
    (one) => {
      one.nodes[0].answers.good += 1;
    },
    /answers do not add up/,
  ],
  [
    'a histogram',
    (one) => {
      one.nodes[0].delay.widthMs.histogram = 'AAAA';
    },
    /nodes\.0\.delay\.widthMs\.histogram cannot be read/,
  ],
  [
    'rows',
    (one) => {
      one.rows.push(one.rows[0]);
    },
    /certificates\.begun is not the number of rows/,
  ],
  [
    'outcomes',
    (one) => {
      one.certificates.outcomes.revoked = 2;
    },
    /certificates\.outcomes are not those of its rows/,
  ],
  [
    'an outcome named like a property of every object',
    (one) => {
      const { revoked, ...others } = one.certificates.outcomes;
      one.certificates.outcomes = { ...others, constructor: revoked };
    },
    /certificates\.outcomes are not those of its rows/,
  ],
  [
    'outcomes of a node',
    (one) => {
      const { revoked, ...others } = one.nodes[0].outcomes;
      one.nodes[0].outcomes = { ...others, revoked, undecided: 1 };
    },
    /nodes\.0\.outcomes are not those of its rows/,
  ],
];

for (const [name, damage, message] of BROKEN) {
  test(`rejects an inconsistent file: ${name}`, () => {
    const sample = structuredClone(sampleOf());
    damage(sample);
    assert.throws(() => parseDocument(Buffer.from(JSON.stringify(sample)), 'p.json'), {
      code: 'inconsistent_propagation',
      message,
    });
  });
}

test('rejects a file that does not match the schema, with the path', () => {
  assert.throws(() => validatePropagation({ ...sampleOf(), nodes: [] }, 'p.json'), {
    code: 'bad_propagation',
    message: 'p.json is not a vault-pki-load/propagation/1: nodes: must contain at least one node.',
  });
});
