/** The median; NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const last = sorted.length - 1;
  const [below, above] = [sorted[Math.floor(last / 2)], sorted[Math.ceil(last / 2)]];
  return ((below ?? Number.NaN) + (above ?? Number.NaN)) / 2;
}

/** The smallest value that is at least as large as `share` (0 to 1) of the ascending values. NaN for no values. */
export function percentile(ascending: ArrayLike<number>, share: number): number {
  const at = Math.min(ascending.length - 1, Math.max(0, Math.ceil(share * ascending.length) - 1));
  return ascending[at] ?? Number.NaN;
}
