/** A promise that somebody else resolves (Promise.withResolvers, which Node 20 does not have). */
export function deferred() {
  /** @type {() => void} */
  let resolve = () => {};
  const promise = new Promise((done) => {
    resolve = () => done(null);
  });
  return { promise, resolve };
}
