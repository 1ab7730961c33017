/** Whether a name is among patterns in which `*` stands for any characters. */
export function isAmong(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => fits(name, pattern));
}

/** Without regular expressions: a pattern is data, and matching takes time in proportion to the name at most. */
function fits(name: string, pattern: string): boolean {
  if (pattern === '*') return true;
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return name === head;
  if (!name.startsWith(head) || name.length < head.length + tail.length || !name.endsWith(tail)) return false;
  let at = head.length;
  for (const part of rest) {
    const found = name.slice(0, name.length - tail.length).indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}
