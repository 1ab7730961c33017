import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/tokens/caller.js';
import { InvalidParameter } from '../openai.errors.js';
import type { InputItemsQuery } from '../requests/response-queries.js';
import { inputItems } from '../responses/input-items.js';
import type { OutputItem } from '../responses/response-view.js';
import { type AnsweredInput, InputItemsStore } from './input-items.store.js';
import { StoredResponses } from './stored-responses.service.js';

/** One page of the items that a response was made from. */
export interface InputItemsPage {
  readonly items: readonly OutputItem[];
  readonly hasMore: boolean;
}

/** The input of a response: its own, and what its conversation had said before, as long as the texts are stored. */
@Injectable()
export class InputItems {
  constructor(
    private readonly responses: StoredResponses,
    private readonly store: InputItemsStore,
  ) {}

  /** Throws `ResponseNotFound`, and `InvalidParameter` when `after` names none of them. */
  async list(id: string, query: InputItemsQuery, caller: Caller): Promise<InputItemsPage> {
    const { record } = await this.responses.find(id, caller);
    const { limit } = query;
    const items: OutputItem[] = [];
    let from = query.after === undefined ? undefined : await this.placeOf(record, query.after);
    let { after } = query;
    // A message may have no items, and the one at the position some that were seen: so one page of items may need
    // several pages of messages.
    for (;;) {
      const { isNewestFirst } = query;
      const page = await this.store.page(record, { from, isNewestFirst, limit: limit + 1 });
      const made = page.map(({ said }) => inputItems(said));
      const found = (isNewestFirst ? made.map((one) => one.toReversed()) : made).flat();
      items.push(...(after === undefined ? found : behind(found, after)));
      if (items.length > limit) return { items: items.slice(0, limit), hasMore: true };
      const last = page.at(-1);
      if (page.length <= limit || last === undefined) return { items, hasMore: false };
      from = isNewestFirst ? last.place - 1 : last.place + 1;
      after = undefined;
    }
  }

  private async placeOf(input: AnsweredInput, after: string): Promise<number> {
    const place = await this.store.placeOf(input, after.split('_')[1] ?? '');
    if (place === undefined) throw noSuchItem();
    return place;
  }
}

function behind(items: readonly OutputItem[], after: string): OutputItem[] {
  const index = items.findIndex(({ id }) => id === after);
  if (index === -1) throw noSuchItem();
  return items.slice(index + 1);
}

function noSuchItem(): InvalidParameter {
  return new InvalidParameter({ path: 'after', message: 'names no item of this input' });
}
