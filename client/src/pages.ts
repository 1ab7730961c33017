/** A page of the operators' API. */
export interface CursorPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** Every item of a list of the operators' API, page by page as they are needed. */
export async function* everyItem<Item>(
  page: (cursor: string | undefined) => Promise<CursorPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await page(cursor);
    yield* items;
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** Every message of a history, newest first. */
export async function* everyMessage<Item extends { readonly message_id: string }>(
  page: (
    before: string | undefined,
  ) => Promise<{ readonly messages: readonly Item[]; readonly has_more: boolean }>,
): AsyncGenerator<Item, void, undefined> {
  let before: string | undefined;
  for (;;) {
    const { messages, has_more: hasMore } = await page(before);
    yield* [...messages].reverse();
    before = messages[0]?.message_id;
    if (!hasMore || before === undefined) return;
  }
}

/** Every session of a list, newest first. One that is created meanwhile shifts the pages: what was seen is left out. */
export async function* everySession<Item extends { readonly id?: string; readonly session_id?: string }>(
  page: (offset: number) => Promise<{ readonly sessions: readonly Item[]; readonly total: number }>,
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>();
  for (let offset = 0; ; ) {
    const { sessions, total } = await page(offset);
    for (const session of sessions) {
      const id = session.id ?? session.session_id ?? '';
      if (!seen.has(id)) yield session;
      seen.add(id);
    }
    offset += sessions.length;
    if (sessions.length === 0 || offset >= total) return;
  }
}
