import { percentDecoded } from '../../common/text/percent-decoded.js';
import type { Redactor } from '../logging/redactor.js';
import type { SettingsCandidate } from './candidate-builder.js';
import { isTable, type Table } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';
import { childNode, type SettingsNode, settingsRoot, settingValues } from './settings-tree.js';

/** Stands for a secret wherever settings are shown. */
export const redactionMarker = '***REDACTED***';

/** The settings as a plain tree that may be shown: secrets become the marker, empty ones stay empty. */
export function redactedTree(settings: GatewaySettings): Table {
  return redacted(settings, settingsRoot()) as Table;
}

/**
 * Every secret text of these settings, or of one layer, for redaction by value: as written, trimmed, and the passwords
 * and keys inside URLs as written and decoded.
 */
export function secretValues(settings: GatewaySettings | Table): readonly string[] {
  const secrets = settingValues(settings).filter(({ node }) => node.marks.secret);
  const texts = secrets.flatMap(({ value }) => textsIn(value)).filter((text) => text !== '');
  return [...new Set(texts.flatMap((text) => [text, text.trim(), ...passwordsIn(text)]))];
}

function redacted(value: unknown, node: SettingsNode | undefined): unknown {
  if (node === undefined || (node.marks.secret && !isTable(value) && !Array.isArray(value)))
    return marked(value);
  if (Array.isArray(value)) return value.map((item, index) => redacted(item, childNode(node, String(index))));
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, redacted(part, childNode(node, name))]),
  );
}

function marked(value: unknown): unknown {
  return value === '' ? '' : redactionMarker;
}

const NAMES_A_SECRET = /key|token|secret|pass|pwd|auth|cred|cookie|session|private|salt|sign/i;
/** A lower-case word, a number, a locale or a path. Redacting these by value would make half the log unreadable. */
const HARMLESS = /^(?:[a-z]{1,12}|[\d.]{1,12}|[a-z]{2}_[A-Z]{2}\.[\w-]+|[~.]{0,2}\/\S*)$/;

/**
 * A table that is marked secret, such as the environment of a tool server, also contains plain values; they are left
 * out.
 */
function textsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, part]) =>
    typeof part === 'string' && HARMLESS.test(part) && !NAMES_A_SECRET.test(name) ? [] : textsIn(part),
  );
}

/** A part of a path that nobody chose as a name. */
const RANDOM = /^(?=.*\d)(?=.*[a-z])[\w.~-]{16,}$/i;

function passwordsIn(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const written = [url.password, ...secretsInAddress(url)];
  return written
    .flatMap((password) => [password, percentDecoded(password)])
    .filter((password) => password !== '');
}

/** What gives access within an address: whoever gets it may repeat only that. */
function secretsInAddress({ protocol, pathname, searchParams }: URL): readonly string[] {
  if (!/^https?:$/.test(protocol)) return [searchParams.get('password') ?? ''];
  const named = [...searchParams].filter(
    ([name, value]) => NAMES_A_SECRET.test(name) || !HARMLESS.test(value),
  );
  return [...named.map(([, value]) => value), ...pathname.split('/').filter((part) => RANDOM.test(part))];
}

const OWNER = 'settings';
const PENDING_OWNER = 'pending settings';
const MAX_REMEMBERED = 1000;

/** Gives the redactor the secrets of every layer of the configuration, before anything else can see them. */
export class SecretRegistrar {
  private remembered: readonly string[] = [];

  constructor(private readonly redactor: Redactor) {}

  /**
   * Hides the secrets of a configuration that may take effect.
   * @returns a function that keeps them hidden while it is in force
   */
  expect(candidate: SettingsCandidate): () => void {
    const secrets = secretsOf(candidate);
    this.redactor.setFor(PENDING_OWNER, secrets);
    return () => this.keep(secrets);
  }

  /** Also hides the secrets of the newest earlier configurations, because running turns may still mention them. */
  private keep(secrets: readonly string[]): void {
    const inForce = new Set(secrets);
    const earlier = this.remembered.filter((secret) => !inForce.has(secret)).slice(-MAX_REMEMBERED);
    this.remembered = [...earlier, ...inForce];
    this.redactor.setFor(OWNER, this.remembered);
    this.redactor.setFor(PENDING_OWNER, []);
  }
}

function secretsOf({ settings, layers, overrides }: SettingsCandidate): readonly string[] {
  return [settings, ...[...layers, overrides].map(({ tree }) => tree)].flatMap(secretValues);
}
