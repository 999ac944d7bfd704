/** What a sender and its pacing thread share: two Int32 flags, and time zero as a BigInt64. */
export const CONTROL_BYTES = 16;
/** Int32: a wake-up is on its way. */
export const UNDER_WAY = 0;
/** Int32: time zero is known. */
export const STARTED = 1;
/** BigInt64: time zero, `process.hrtime.bigint()`. */
export const ORIGIN = 1;
