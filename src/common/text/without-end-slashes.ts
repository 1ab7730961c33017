/** A base URL to which paths are added. Not by a regular expression: that one takes time in the square of the slashes. */
export function withoutEndSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}
