import type { LoadedSkill } from './skill.js';

/** Of a longer message, only this many characters at its start and at its end are searched. */
const SEARCHED_CHARACTERS = 8192;

const known = new WeakMap<LoadedSkill, readonly string[]>();

/** The skills that a message asks for, at most `most`: those named as `/name`, then those with a matching trigger. */
export function triggeredSkills(
  skills: readonly LoadedSkill[],
  message: string,
  most: number,
): readonly LoadedSkill[] {
  if (most === 0 || skills.length === 0) return [];
  const text = new TriggerText(endsOf(ownText(message)));
  const named = message.includes('/') ? skills.filter(({ name }) => text.hasCommand(name)) : [];
  if (named.length >= most) return named.slice(0, most);
  const meant = skills.filter(
    (skill) => !named.includes(skill) && triggersOf(skill).some((trigger) => text.hasWords(trigger)),
  );
  return [...named, ...meant].slice(0, most);
}

/** Channels put this before a message of a group. */
const LABEL = /^[^():\n]*\([^():\n]*\): /;
const QUOTED = /^[ \t]*>.*$/gm;
const FORWARDED = /^[ \t]*\(Forwarded from .*\)[ \t]*$/m;
/** Where channels say that a message was forwarded: in its first two lines. */
const NOTE_LINES = 2;

/** The message without what somebody else wrote: quoted lines, and all of a forwarded one. */
function ownText(message: string): string {
  const text = message.replace(LABEL, '');
  const head = text.split('\n', NOTE_LINES).join('\n');
  return FORWARDED.test(head) ? '' : text.replace(QUOTED, '');
}

function endsOf(message: string): string {
  if (message.length <= 2 * SEARCHED_CHARACTERS) return message;
  return `${message.slice(0, SEARCHED_CHARACTERS)}\n${message.slice(-SEARCHED_CHARACTERS)}`;
}

function triggersOf(skill: LoadedSkill): readonly string[] {
  let triggers = known.get(skill);
  if (triggers === undefined) {
    triggers = skill.triggers.map(normalized);
    known.set(skill, triggers);
  }
  return triggers;
}

/** Scripts that write words without spaces between them, or attach endings to them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;
const WORD = /[\p{L}\p{M}\p{N}_]/u;
const BEFORE_COMMAND = new RegExp(`^$|[\\s\\p{Ps}\\p{Pi}"',;:!?。、]|${UNSPACED.source}`, 'u');
const CONTINUES = /^(?:[/-]|\.[\p{L}\p{N}])/u;

/** The form in which triggers and messages are compared: NFKC, lower case, single spaces. */
export function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** A message to be searched for many triggers; remembers the answers. */
class TriggerText {
  private readonly text: string;
  private readonly answers = new Map<string, boolean>();
  private letters: Uint8Array | undefined;

  constructor(message: string) {
    this.text = normalized(message);
  }

  /** Whether the message has `trigger`, which must be normalized, as whole words. */
  hasWords(trigger: string): boolean {
    const known = this.answers.get(trigger);
    if (known !== undefined) return known;
    const isWhole = (at: number): boolean => this.isBoundary(at) && this.isBoundary(at + trigger.length);
    const answer = this.some(trigger, isWhole);
    this.answers.set(trigger, answer);
    return answer;
  }

  /** Whether the message has `/name` as a word of its own, not as part of a path. */
  hasCommand(name: string): boolean {
    const command = `/${name}`;
    return this.some(command, (at) => {
      const end = at + command.length;
      const before = /.$/su.exec(this.text.slice(Math.max(0, at - 2), at))?.[0] ?? '';
      const isAlone = BEFORE_COMMAND.test(before) && this.isBoundary(end);
      return isAlone && !CONTINUES.test(this.text.slice(end, end + 3));
    });
  }

  private some(part: string, check: (at: number) => boolean): boolean {
    for (let at = this.text.indexOf(part); at !== -1; at = this.text.indexOf(part, at + 1)) {
      if (check(at)) return true;
    }
    return false;
  }

  /** Only two adjacent letters of spaced scripts are inside a word; Chinese words, for example, may end anywhere. */
  private isBoundary(at: number): boolean {
    this.letters ??= spacedLetters(this.text);
    return this.letters[at - 1] !== 1 || this.letters[at] !== 1;
  }
}

/** For each UTF-16 code unit, 1 when it belongs to a letter of a script with spaces between words. */
function spacedLetters(text: string): Uint8Array {
  const letters = new Uint8Array(text.length);
  let at = 0;
  for (const character of text) {
    if (WORD.test(character) && !UNSPACED.test(character)) letters.fill(1, at, at + character.length);
    at += character.length;
  }
  return letters;
}
