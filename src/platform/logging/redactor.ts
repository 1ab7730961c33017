import { MIN_SECRET_LENGTH, REDACTED, SecretFinder, secretForms } from './secret-finder.js';

const MAX_SECRETS = 10_000;
const ADDED_ONE_BY_ONE = 'added one by one';
const NONE: ReadonlySet<string> = new Set();

/**
 * Knows the secrets of this process and removes them from texts by value, in the last step before a text leaves it.
 *
 * Values shorter than 8 characters are not looked for. A secret that is split over two calls is not found, so pass
 * whole lines. What merely looks like a secret (tokens, keys, credentials in URLs) is removed without being known.
 */
export class Redactor {
  private readonly owners = new Map<string, ReadonlySet<string>>();
  /** How many owners hold each secret. */
  private readonly holders = new Map<string, number>();
  private finder = new SecretFinder();
  private isFinderStale = false;

  constructor(private readonly maxSecrets = MAX_SECRETS) {}

  /** Hides one secret until `remove`. Throws `RangeError` past the bound of 10,000 different secrets. */
  add(secret: string): void {
    this.setFor(ADDED_ONE_BY_ONE, [...this.secretsOf(ADDED_ONE_BY_ONE), secret]);
  }

  remove(secret: string): void {
    this.setFor(
      ADDED_ONE_BY_ONE,
      [...this.secretsOf(ADDED_ONE_BY_ONE)].filter((other) => other !== secret),
    );
  }

  /**
   * Replaces all secrets of one owner, such as `settings` or `hooks`; an equal secret of another owner stays hidden.
   * Throws `RangeError` past the bound of 10,000 different secrets, and then changes nothing.
   */
  setFor(owner: string, secrets: readonly string[]): void {
    const before = this.secretsOf(owner);
    const after = new Set(secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH));
    const added = [...after].filter((secret) => !before.has(secret));
    const dropped = [...before].filter((secret) => !after.has(secret));
    this.checkBound(added, dropped);
    for (const secret of added) this.hold(secret);
    for (const secret of dropped) this.release(secret);
    if (after.size === 0) this.owners.delete(owner);
    else this.owners.set(owner, after);
  }

  /** The text without known secrets and otherwise unchanged: for text that may look like a secret without being one. */
  hideKnown(text: string): string {
    return this.currentFinder().replaceAll(text);
  }

  /** The text without known secrets, in any of their `secretForms`, and without anything that looks like a secret. */
  redact(text: string): string {
    return redactPatterns(this.currentFinder().replaceAll(text));
  }

  private secretsOf(owner: string): ReadonlySet<string> {
    return this.owners.get(owner) ?? NONE;
  }

  private checkBound(added: readonly string[], dropped: readonly string[]): void {
    const arriving = added.filter((secret) => !this.holders.has(secret)).length;
    const leaving = dropped.filter((secret) => this.holders.get(secret) === 1).length;
    if (this.holders.size + arriving - leaving > this.maxSecrets) {
      throw new RangeError(`More than ${this.maxSecrets} different secrets cannot be kept out of the texts.`);
    }
  }

  private hold(secret: string): void {
    const holders = this.holders.get(secret) ?? 0;
    this.holders.set(secret, holders + 1);
    if (holders === 0 && !this.isFinderStale) addForms(this.finder, secret);
  }

  private release(secret: string): void {
    const holders = (this.holders.get(secret) ?? 1) - 1;
    if (holders > 0) this.holders.set(secret, holders);
    else this.holders.delete(secret);
    // A finder cannot remove a secret; it is rebuilt when it is next needed.
    if (holders === 0) this.isFinderStale = true;
  }

  private currentFinder(): SecretFinder {
    if (this.isFinderStale) {
      this.finder = new SecretFinder();
      for (const secret of this.holders.keys()) addForms(this.finder, secret);
      this.isFinderStale = false;
    }
    return this.finder;
  }
}

function addForms(finder: SecretFinder, secret: string): void {
  for (const form of secretForms(secret)) finder.add(form);
}

/**
 * Patterns of texts that look like a secret, known or not. Every repetition starts at a fixed text, or stops at a
 * character that could start it, so that the time stays linear in the length of the text.
 */
const PATTERNS = [
  // This gateway's own tokens, also when cut short.
  /agw_[A-Za-z0-9_-]{24,}/,
  // Keys of model providers. After a letter the match is the end of a longer word, unless the letter belongs to a JSON
  // escape.
  /(^|[^A-Za-z0-9]|\\[bfnrt])sk-[A-Za-z0-9_-]{16,}/,
  // Slack, Standard Webhooks, Telegram.
  /x(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}/,
  /whsec_[A-Za-z0-9+/=_-]{8,}/,
  /(^|[^0-9])[0-9]{5,}:[A-Za-z0-9_-]{24,}/,
  // Credentials in headers and URLs; the text around them is kept.
  /([Bb](?:earer|EARER)(?:[ \t]+|%20|\+))[A-Za-z0-9._~+/=-]{8,}/,
  /(\b[Bb](?:asic|ASIC)(?:[ \t]+|%20|\+))[a-z]*[A-Z0-9+/=][A-Za-z0-9+/=]{4,}/,
  /(:\/\/)[^\s/?#"'<>\\]+(@)/,
];

/**
 * Every text that matches one of the patterns contains one of these. Looking for them takes half the time, and most
 * texts have none.
 */
const TRACE = /agw_|sk-|x(?:ox|app)|whsec_|[0-9]:[\w-]{24}|earer|EARER|asic|ASIC|:\/\//;

const ANY = new RegExp(PATTERNS.map((pattern) => pattern.source).join('|'), 'g');

/** The text with everything that looks like a secret replaced by the mark. */
export function redactPatterns(text: string): string {
  if (!TRACE.test(text)) return text;
  return text.replace(ANY, `$1$2$3$4$5${REDACTED}$6`);
}
