/** Scripts that write words without blanks between them, or hang endings on them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;
const WORD = /[\p{L}\p{M}\p{N}_]/u;
const BEFORE_COMMAND = new RegExp(`^$|[\\s\\p{Ps}\\p{Pi}"',;:!?。、]|${UNSPACED.source}`, 'u');
const GOES_ON = /^(?:[/-]|\.[\p{L}\p{N}])/u;

/** Text as triggers are compared: wide and narrow, large and small letters alike, one blank for any. */
export function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** A message, asked for many triggers: what was found out once is known. */
export class TriggerText {
  private readonly text: string;
  private readonly answers = new Map<string, boolean>();
  private letters: Uint8Array | undefined;

  constructor(message: string) {
    this.text = normalized(message);
  }

  /** Whether `trigger` is there as whole words; it is normalized. */
  hasWords(trigger: string): boolean {
    const known = this.answers.get(trigger);
    if (known !== undefined) return known;
    const isWhole = (at: number): boolean => this.isBoundary(at) && this.isBoundary(at + trigger.length);
    const answer = this.some(trigger, isWhole);
    this.answers.set(trigger, answer);
    return answer;
  }

  /** Whether `/name` is there as a word of its own, and not as a part of a path. */
  hasCommand(name: string): boolean {
    const command = `/${name}`;
    return this.some(command, (at) => {
      const end = at + command.length;
      const before = /.$/su.exec(this.text.slice(Math.max(0, at - 2), at))?.[0] ?? '';
      const isAlone = BEFORE_COMMAND.test(before) && this.isBoundary(end);
      return isAlone && !GOES_ON.test(this.text.slice(end, end + 3));
    });
  }

  private some(part: string, check: (at: number) => boolean): boolean {
    for (let at = this.text.indexOf(part); at !== -1; at = this.text.indexOf(part, at + 1)) {
      if (check(at)) return true;
    }
    return false;
  }

  /** A word of Chinese may end anywhere: only letters that are written apart from others make the inside of a word. */
  private isBoundary(at: number): boolean {
    this.letters ??= spacedLetters(this.text);
    return this.letters[at - 1] !== 1 || this.letters[at] !== 1;
  }
}

/** For each code unit, 1 when it belongs to a letter of a script whose words are written apart. */
function spacedLetters(text: string): Uint8Array {
  const letters = new Uint8Array(text.length);
  let at = 0;
  for (const character of text) {
    if (WORD.test(character) && !UNSPACED.test(character)) letters.fill(1, at, at + character.length);
    at += character.length;
  }
  return letters;
}
