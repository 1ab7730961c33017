/** A value from a server or a model as JSON. It must not control the terminal. */
export function asShown(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\p{C}/gu, '?');
}
