/** A count as a provider gave it; what is missing or no count is 0. */
export function tokenCount(value: number | null | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
