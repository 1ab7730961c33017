export interface KeptSession {
  readonly id: string;
  readonly user_id: string;
  readonly status: string;
  readonly turn_owner: string | null;
  readonly message_count: number;
  readonly turn_count: number;
  readonly tokens: number;
}

export interface KeptMessage {
  readonly id: string;
  readonly session_id: string;
  readonly turn_id: string;
  readonly seq: number | null;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly incomplete: string | null;
}

export interface KeptTurn {
  readonly id: string;
  readonly session_id: string;
  readonly user_message_id: string;
  readonly arrival: number;
  readonly status: string;
  readonly reason: string | null;
  readonly owner: string | null;
  /** Milliseconds by the database's clock. */
  readonly started: number | null;
  readonly ended: number | null;
  readonly tokens: number;
  /** Whether the model was told that the outcome of a call is unknown. */
  readonly unknown_call?: boolean;
  /** The results of its calls that the model was told. */
  readonly told?: readonly string[];
}

export interface KeptDelivery {
  readonly hook_id: string;
  readonly event_id: string;
  readonly event: string;
  readonly sequence: number;
  readonly status: string;
  readonly attempts: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Everything that the database contains at the end. */
export interface Kept {
  readonly sessions: readonly KeptSession[];
  readonly messages: readonly KeptMessage[];
  readonly turns: readonly KeptTurn[];
  readonly hooks: readonly { readonly id: string; readonly url: string }[];
  readonly deliveries: readonly KeptDelivery[];
  readonly settings: ReadonlyMap<string, unknown>;
}

export function groupedBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
