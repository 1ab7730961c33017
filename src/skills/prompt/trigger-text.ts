/** Scripts that write words without blanks between them, or hang endings on them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;
const WORD = /[\p{L}\p{M}\p{N}_]/u;
const BEFORE_COMMAND = new RegExp(`^$|[\\s\\p{Ps}\\p{Pi}"'，。、；：！？]|${UNSPACED.source}`, 'u');
const GOES_ON = /^(?:[/-]|\.[\p{L}\p{N}])/u;

/** Text as triggers are compared: wide and narrow, large and small letters alike, one blank for any. */
export function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** Whether `trigger` is in `text` as whole words; both normalized. */
export function hasWords(text: string, trigger: string): boolean {
  const isWhole = (at: number): boolean => isBoundary(text, at) && isBoundary(text, at + trigger.length);
  for (let at = text.indexOf(trigger); at !== -1; at = text.indexOf(trigger, at + 1)) {
    if (isWhole(at)) return true;
  }
  return false;
}

/** Whether `text` has `/name` as a word of its own, and not as a part of a path. */
export function hasCommand(text: string, name: string): boolean {
  const command = `/${name}`;
  const isAlone = (at: number): boolean => {
    const end = at + command.length;
    return (
      BEFORE_COMMAND.test(characterBefore(text, at)) &&
      isBoundary(text, end) &&
      !GOES_ON.test(text.slice(end, end + 3))
    );
  };
  for (let at = text.indexOf(command); at !== -1; at = text.indexOf(command, at + 1)) {
    if (isAlone(at)) return true;
  }
  return false;
}

/** A word of Chinese may end anywhere: only letters that are written apart from others make the inside of a word. */
function isBoundary(text: string, at: number): boolean {
  const before = characterBefore(text, at);
  const after = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  if (!WORD.test(before) || !WORD.test(after)) return true;
  return UNSPACED.test(before) || UNSPACED.test(after);
}

function characterBefore(text: string, at: number): string {
  return /.$/su.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? '';
}
