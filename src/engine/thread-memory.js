/** How much memory the threads beside the sender may take. */

/**
 * In MiB. What such a thread makes is dead at once, but V8 lets its young generation grow to 48 before it collects; with 6 the
 * recorder is as fast.
 */
export const HELPER_LIMITS = Object.freeze({ maxYoungGenerationSizeMb: 6 });
