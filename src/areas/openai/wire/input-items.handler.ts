import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/tokens/caller.js';
import { readInputItemsQuery } from '../requests/response-queries.js';
import { InputItems } from '../stored/input-items.service.js';

export interface InputItemsListView {
  readonly object: 'list';
  readonly data: readonly object[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Answers GET /v1/responses/:id/input_items. */
@Injectable()
export class InputItemsHandler {
  constructor(private readonly items: InputItems) {}

  /** Throws `InvalidParameter`, `UnsupportedParameter`, `ResponseNotFound`. */
  async list(id: string, query: unknown, caller: Caller): Promise<InputItemsListView> {
    const { items, hasMore } = await this.items.list(id, readInputItemsQuery(query), caller);
    const [first, last] = [items[0]?.id ?? null, items.at(-1)?.id ?? null];
    return { object: 'list', data: items, first_id: first, last_id: last, has_more: hasMore };
  }
}
