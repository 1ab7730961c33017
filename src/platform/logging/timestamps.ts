const SECOND_MS = 1000;

/** Writes moments as `Date.toISOString` does; what lines of the same second have in common is made once. */
export function timestamps(): (atMs: number) => string {
  let second = Number.NaN;
  let start = '';
  return (atMs) => {
    const ms = atMs % SECOND_MS;
    if (atMs - ms !== second) {
      second = atMs - ms;
      start = new Date(second).toISOString().slice(0, -'000Z'.length);
    }
    return `${start}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
  };
}
