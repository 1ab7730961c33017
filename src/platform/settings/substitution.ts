/** Text with its references replaced, the names that are missing, and whether a reference is malformed. */
export interface Substituted {
  readonly text: string;
  readonly missing: readonly string[];
  readonly malformed: boolean;
}

const reference = /\$?\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?/g;

/** Replaces every `${NAME}` by `lookup(NAME)`; `$${` stands for a plain `${`. Does not substitute inside inserted text. */
export function substitute(text: string, lookup: (name: string) => string | undefined): Substituted {
  const missing: string[] = [];
  let malformed = false;
  const replaced = text.replace(reference, (match, name: string | undefined) => {
    if (match.startsWith('$$')) return match.slice(1);
    if (name === undefined) malformed = true;
    const value = name === undefined ? undefined : lookup(name);
    if (name !== undefined && value === undefined) missing.push(name);
    return value ?? '';
  });
  return { text: replaced, missing, malformed };
}
