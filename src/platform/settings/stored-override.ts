/** The content of an override: any JSON but null, or a secret, sealed for its key. */
export type OverrideContent = { readonly value: unknown } | { readonly sealed: string };

/** One key that was changed at run time, as stored in the database. */
export interface StoredOverride {
  readonly key: string;
  readonly content: OverrideContent;
}

/** All of them at one moment; the revision increases with every change. */
export interface StoredOverrides {
  readonly revision: string;
  readonly rows: readonly StoredOverride[];
}

/** The change of one key: its content before and after, null for no override. */
export interface OverrideEdit {
  readonly key: string;
  readonly before: OverrideContent | null;
  readonly after: OverrideContent | null;
}

/** Binds a sealed secret to its key, so that it cannot be moved to another one. */
export function sealContext(key: string): string {
  return `config:${key}`;
}

/** The rows as they are after the edits, by key. */
export function afterEdits(
  rows: readonly StoredOverride[],
  edits: readonly OverrideEdit[],
): readonly StoredOverride[] {
  const contents = new Map(rows.map(({ key, content }) => [key, content]));
  for (const { key, after } of edits) {
    if (after === null) contents.delete(key);
    else contents.set(key, after);
  }
  return [...contents]
    .map(([key, content]) => ({ key, content }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}
