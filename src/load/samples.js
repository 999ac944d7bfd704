/**
 * What became of one request, and its way from the sending thread to the recorder: packed into batches of plain
 * numbers and bytes, so that a million samples are a few thousand messages.
 */

/**
 * @typedef {object} Sample
 * @property {number} operation position in the plan's list of operations
 * @property {number} index
 * @property {number} intended ms: when it was due; in a closed loop, when its connection became free
 * @property {number} sent ms: on the wire; where it never got there, when a connection took it
 * @property {number} done ms: last byte of the answer, or when it was given up
 * @property {number} lag ms: how late the tool itself was, all waiting for a free connection left out
 * @property {string | null} failure outcome, where there was no whole answer; null: there is one
 * @property {number} status HTTP status, 0 without an answer
 * @property {Uint8Array | null} body null: not kept (no answer, or the recorder could not keep up)
 */
/**
 * @typedef {object} Batch plain, cheap to hand to another thread
 * @property {Float64Array} numbers FIELDS per sample
 * @property {Uint8Array} bytes all bodies, one after the other
 * @property {string[]} failures the names that `numbers` refers to
 * @property {number} count samples
 * @property {number} size bytes used
 * @property {number} upToMs every sample that was done before this time has been handed over
 */

const FIELDS = 9;
const NO_BODY = -1;
const BATCH_SAMPLES = 512;
const BATCH_BYTES = 256 * 1024;

/**
 * @param {Batch} batch
 * @param {(sample: Sample) => void} visit the sample object is used again for the next one
 */
export function forEachSample(batch, visit) {
  /** @type {Sample} */
  const sample = {
    operation: 0,
    index: 0,
    intended: 0,
    sent: 0,
    done: 0,
    lag: 0,
    failure: null,
    status: 0,
    body: null,
  };
  const { numbers, bytes, failures } = batch;
  let start = 0;
  for (let at = 0; at < batch.count * FIELDS; at += FIELDS) {
    sample.operation = numbers[at];
    sample.index = numbers[at + 1];
    sample.intended = numbers[at + 2];
    sample.sent = numbers[at + 3];
    sample.done = numbers[at + 4];
    sample.lag = numbers[at + 5];
    sample.failure = numbers[at + 6] < 0 ? null : failures[numbers[at + 6]];
    sample.status = numbers[at + 7];
    const length = numbers[at + 8];
    sample.body = length === NO_BODY ? null : bytes.subarray(start, start + length);
    if (length > 0) start += length;
    visit(sample);
  }
}

/**
 * Collects samples and hands them over in batches.
 *
 * @param {(batch: Batch) => void} post
 */
export function createBatcher(post) {
  /** @type {Batch | null} */
  let batch = null;

  /** @param {number} upToMs */
  function flush(upToMs) {
    const full = batch ?? newBatch(0, 0);
    batch = null;
    full.upToMs = upToMs;
    post(full);
  }
  return {
    /** Hands over what there is, be it nothing: the recorder learns how far time has come. */
    flush,
    /** @param {Sample} sample */
    add(sample) {
      const length = sample.body === null ? 0 : sample.body.length;
      if (batch !== null && (batch.count === BATCH_SAMPLES || batch.size + length > batch.bytes.length)) {
        flush(sample.done);
      }
      batch ??= newBatch(BATCH_SAMPLES, Math.max(BATCH_BYTES, length));
      const at = batch.count++ * FIELDS;
      const { numbers } = batch;
      numbers[at] = sample.operation;
      numbers[at + 1] = sample.index;
      numbers[at + 2] = sample.intended;
      numbers[at + 3] = sample.sent;
      numbers[at + 4] = sample.done;
      numbers[at + 5] = sample.lag;
      numbers[at + 6] = sample.failure === null ? -1 : nameIndex(batch, sample.failure);
      numbers[at + 7] = sample.status;
      numbers[at + 8] = sample.body === null ? NO_BODY : length;
      if (sample.body !== null) batch.bytes.set(sample.body, batch.size);
      batch.size += length;
    },
  };
}

/**
 * @param {number} samples
 * @param {number} byteLength
 * @returns {Batch}
 */
function newBatch(samples, byteLength) {
  return {
    numbers: new Float64Array(samples * FIELDS),
    bytes: new Uint8Array(byteLength),
    failures: [],
    count: 0,
    size: 0,
    upToMs: 0,
  };
}

/**
 * @param {Batch} batch
 * @param {string} name
 */
function nameIndex(batch, name) {
  const known = batch.failures.indexOf(name);
  return known >= 0 ? known : batch.failures.push(name) - 1;
}
