/** Scripts without spaces between words, or with particles attached to them: these are searched by pairs of characters. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;
const NO_PART_OF_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
const LATIN_WITH_MARKS = /(\p{Script=Latin})\p{M}+/gu;
const POSSESSIVE = /['’]s$/u;
/** Longer words are cut; their start identifies them well enough. */
const MAX_WORD_LENGTH = 64;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The words under which a text is found. The database stems them and drops stop words. */
export function indexTerms(text: string): string[] {
  const clean = plain(text);
  const words = spacedWords(clean);
  for (const [run] of clean.matchAll(DENSE)) {
    for (const character of run) words.add(character);
    for (const pair of pairsOf(run)) words.add(pair);
  }
  return [...words];
}

/** The words that a query looks for: in dense scripts the pairs within a word, and a single character only if it is a word. */
export function searchTerms(text: string): string[] {
  const clean = plain(text);
  const words = spacedWords(clean);
  for (const segment of segmentsOf(clean)) {
    for (const [run] of segment.matchAll(DENSE)) {
      if ([...run].length === 1) words.add(run);
      for (const pair of pairsOf(run)) words.add(pair);
    }
  }
  return [...words];
}

function spacedWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const segment of segmentsOf(text)) {
    const word = segment.replace(POSSESSIVE, '').replace(DENSE, '').replace(NO_PART_OF_WORDS, '');
    if (word !== '') words.add([...word].slice(0, MAX_WORD_LENGTH).join(''));
  }
  return words;
}

/** Normalizes width, case and the accents of Latin letters. */
function plain(text: string): string {
  const bare = text.toWellFormed().normalize('NFKD').replace(LATIN_WITH_MARKS, '$1');
  return bare.normalize('NFKC').toLowerCase().replaceAll('_', ' ');
}

function* segmentsOf(text: string): Generator<string> {
  for (const { segment, isWordLike } of segmenter.segment(text)) if (isWordLike) yield segment;
}

function* pairsOf(run: string): Generator<string> {
  const characters = [...run];
  for (let at = 1; at < characters.length; at += 1) yield `${characters[at - 1]}${characters[at]}`;
}
