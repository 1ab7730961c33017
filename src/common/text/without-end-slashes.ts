/** A base URL ready to append paths to. A regular expression would take quadratic time in the slashes. */
export function withoutEndSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}
