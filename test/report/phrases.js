/**
 * What reports of each sample say, in text and in Markdown alike: sentences that those with golden files do not have. Lines of a
 * report are joined, and what Markdown marks up is left out, before they are looked for.
 */

/** @type {Record<string, string>} a phrase per line */
export const PHRASES = {
  backlog: `
    88 of 400 planned requests were still waiting for a free connection when the run ended: the backlog grew
    15/s, 54,000 an hour
    72 of 372 (19.4 %): 60 never_sent, 12 unavailable
    300 of 300 certificates, all passed
    requests waited for a connection: raise it, or lower --rate
    the target is sealed, overloaded or without a leader
    makes this run a test that passes or fails`,
  'closed-loop-issue': `
    2,446,020/h, 2,450 times the limit
    (Vault 1.21.1), closed loop, 10 in flight, 20 s
    A closed loop hides waiting: a slow target gets fewer requests.
    The warm-up (5 s, 3,012 requests) is not counted.`,
  'only-errors': `
    398 of 398 (100 %): 358 dropped, 40 connection_refused
    every connection was busy: raise it, or lower --rate
    the server is down, or accepts no more connections`,
  'no-samples': `
    Interrupted: the figures cover the time until then.
    Nothing was measured.
    nothing: no response could be checked`,
  'one-request': `
    Only 1 requests: with fewer than 100, p99 is just the slowest.
    closed loop, 10 in flight, 1 request
    1 h 6 min`,
  'ten-million': `
    errors<0.2%
    10,000 of 10,000,000 (0.1 %): 10,000 timeout
    open loop at 10,000/s, 2 threads, 16 min 40 s`,
  'sampled-verification': `
    open loop at 1,000/s, Poisson arrivals, ramp-up 2 s, 2 threads, 20 s, 20,000 requests
    12 % checked
    2,400 of 20,000 OCSP responses (12 %, sampled), all passed
    Signatures were verified for 2,400 of 20,000 distinct responses.`,
  'invalid-measurement': `
    Requests went out late: the send lag is 812 ms at p99, more than the service time of 1.99 ms.
    measurement`,
  unfinished: `
    Unfinished: the run had not ended when this was written.
    120 requests are too few to prove it: at least 299 are needed.
    unanswered`,
  'long-outcome-names': `
    9 of 400 (2.25 %): 8 xxxx`,
  hostile: '1 kind more',
  staged: `
    steady: rate>=60/s
    steady in kv-read: p50<200ms
    40.8/s, 146,700/h
    101 of 590 (17.1 %): 33 bad, 25 refused, 23 timeout, 1 kind more
    open loop in 3 stages
    522 of 522 answers, 33 did not pass
    not what was asked for
    more than 10 s shows how long these responses take`,
  'two-operations': '400 of 400 responses, all passed',
  'compare-nothing': 'no difference shown',
  'compare-by-interval': `
    The medians of the runs show a difference, but their ranks do not.`,
  'compare-by-rank': `
    The ranks of the runs show a difference, but their medians do not.`,
  'compare-errors': `
    No time or rate of down is called better: down has more errors than old (100 % and 0 %).
    p99: not comparable, 0.40 ms and 9.93 ms; all requests of down failed, so there are no response times.
    Errors are 100 points higher: 100 % instead of 0 % (95 % interval +100 to +100 points, p < 0.0001).
    Times cover all requests: failing fast is not responding fast.
    ran one after the other, so any other change in between would look like a difference.`,
  'compare-few-runs': `
    old and new have too few runs (1 and 2) to show any difference: 4 of each are enough.
    not enough runs`,
  'compare-left-out': `
    5 of 10 runs of new were left out, so the group may look better than it is.
    But 5 of 10 runs of new are left out, so the median of all is unknown.
    run-1.json: its measurement is invalid: Requests went out late`,
  'compare-many-groups': `
    raft is 30.0 % faster than consul (p99
    etcd: p99 is 10.0 % slower: 10.9 ms instead of 9.94 ms (95 % interval +8.06 to +11.9 %, p < 0.0001). That reaches the limit of 10 %.
    (95 %, 400 resamples, seed 1), which is somewhat too narrow with few runs.`,
  'compare-warnings': `
    The runs differ in load.ratePerSecond (20, 50), load.concurrency (10, 99), which may explain a difference.
    was left out, so the group may look better than it is.
    p99 is 20.0 % faster: 7.95 ms instead of 9.93 ms (95 % interval
    bad.json: its measurement is invalid: Requests went out late`,
  'run-set-left-out': `
    4 runs, 2 of them counted
    run 2: its measurement is invalid: Requests went out late
    run 3: it was interrupted`,
  'run-set-mixed': `
    open loop at 50/s, 20 s
    The runs of before and after had different targets: Vault 1.21.1, OpenBao 2.6.2.`,
  'run-set-nothing': `
    1 run, none of them counted`,
  'propagation-before': `
    0 ms, 100 % below the limit
    Revocations were seen at one node before the revoke call returned
    30 requests before, 60 polls: 60 good, 30 revoked
    auto_rebuild is off in pki_int: every revocation rebuilds the CRL before its response.`,
  'propagation-hostile': `
    Revocations were seen at one node within 20.0 ms (p50 and p99)
    1 request before, 2 polls: 2 good, 1 revoked`,
  'propagation-nothing': `
    Interrupted after 0 of 5 certificates.
    No revocation was followed to its end: no certificate was started.
    No revocation was seen at one node
    no poll was due`,
  'propagation-troubled': `
    3 of 5 revocations were not reported by every node and count as slower than any limit.
    71.4 % of revocations failed (5 of 7); the limit is 10 %.
    12.8 % of the polls were missed, and 1 % were over 45.0 ms late, at an interval of 20.0 ms.
    2.13 % of the polls were skipped because earlier ones had no response yet.
    3,000 of 6,012 OCSP responses (49.9 %) were errors or failed a check (bad_signature, connection_refused)
    2 of 8 revocations were seen at one node within 34.0 ms (p99), half within 0 ms
    issue_failed
    never_answered
    not_good_before
    revoke_failed
    The config/crl of pki_int cannot be read: auto_rebuild is unknown.`,
  'scenario-compared': 'raft',
  'scenario-errors': `
    login: timeout
    write: unavailable
    Vault is sealed, overloaded or without a leader
    to tell a difference from chance, each target needs at least 4 runs that count (repeat: 4); inmem has 3, raft has`,
  'scenario-hostile': 'has 1, plain has 1.',
  'scenario-interrupted': `
    Interrupted: some runs are missing.
    b: measurement
    http://c refused the connection. Start it.
    1 of 4 runs completed, 1 count
    nothing could be sent; 0 of 4 runs completed, 0 count
    This row has no usable runs.`,
  'scenario-stages': `
    vault-2: hold: p99<200ms
    p99 is 240 ms.
    open loop in 2 stages up to 50/s, 20 s`,
  'search-broken-off': `
    not confirmed; met up to 100/s
    The search failed, and no level was confirmed. http://192.0.2.1:8200 refused. Start it.`,
  'search-generator': `
    unknown, but at least 59.5/s (214,200 an hour): the tool could not offer more
    Confirmed by a run of 1 min 41 s with 5,990 requests.
    The tool could not offer 60.1/s as planned: the target may handle more.
    Run the tool with more CPU or on another machine, or bound the search with --max-rate.`,
  'search-highest': `
    at least 80/s (288,000 an hour), the highest level allowed
    Confirmed by a run of 1 min 15 s with 5,990 requests.
    Every requirement was met at the highest level allowed, 80/s: the target may handle more.`,
  'search-none': 'The search was interrupted: no level was confirmed.',
  'search-peak': `
    600/s with 12 in flight
    Confirmed by a run of 30 s with 18,000 requests.
    With more requests in flight, throughput no longer grew.`,
};
