/** What a provider promises, with every field as it must be read: it may be missing. */
export type Unchecked<T> = T extends string | number | boolean ? T : Listed<T>;

type Listed<T> = T extends readonly (infer Item)[]
  ? readonly Unchecked<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Unchecked<T[Key]> | null }
    : T;
