import { REDACTED } from './secret-forms.js';

/**
 * Patterns that look like a secret, known or not. Every repetition is bounded by a fixed start, or stops at a character
 * that starts it, so that the time stays linear in the length of the text.
 */
const PATTERNS = [
  // This gateway's own tokens, also when cut short.
  /agw_[A-Za-z0-9_-]{24,}/,
  // Keys of model providers; a letter before it makes it the end of a word, unless that letter is a JSON escape's.
  /(^|[^A-Za-z0-9]|\\[bfnrt])sk-[A-Za-z0-9_-]{16,}/,
  // Slack, Standard Webhooks, Telegram.
  /x(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}/,
  /whsec_[A-Za-z0-9+/=_-]{8,}/,
  /(^|[^0-9])[0-9]{5,}:[A-Za-z0-9_-]{24,}/,
  // Credentials in headers and URLs; what stands around them is kept.
  /([Bb](?:earer|EARER)(?:[ \t]+|%20|\+))[A-Za-z0-9._~+/=-]{8,}/,
  /(\b[Bb](?:asic|ASIC)(?:[ \t]+|%20|\+))[a-z]*[A-Z0-9+/=][A-Za-z0-9+/=]{4,}/,
  /(:\/\/)[^\s/?#"'<>\\]+(@)/,
];

const ANY = new RegExp(PATTERNS.map((pattern) => pattern.source).join('|'), 'g');

/** The text with everything that looks like a secret replaced by the mark. */
export function redactPatterns(text: string): string {
  return text.replace(ANY, `$1$2$3$4$5${REDACTED}$6`);
}
