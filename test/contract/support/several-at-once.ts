const AT_ONCE = 8;

/** Calls `act` for each item, some at a time. Throws the first failure when everything that has begun has ended. */
export async function severalAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
