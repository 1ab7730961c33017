import { ProviderFailed } from '../../../../common/errors/gateway-error.js';
import { WireFault, type WireFaultFacts } from './wire-fault.js';

/** What messages may say about a provider, and what they must not. */
export interface ProviderIdentity {
  readonly name: string;
  /** The table of its settings. */
  readonly section: string;
  /** Where its key is looked up. */
  readonly keySource: string;
  readonly secrets: readonly string[];
}

export interface FaultClass {
  readonly error: ProviderFailed;
  readonly retryable: boolean;
  /** What the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

interface Description {
  readonly retryable: boolean;
  readonly reason: string;
  /** Continues the sentence "The model provider X …", without the full stop. */
  readonly what: string;
}

type StatusFacts = Extract<WireFaultFacts, { kind: 'status' }>;

const REFUSED_STATUS = new Set([401, 403]);
const RETRYABLE_STATUS = new Set([408, 409, 429]);
/** Error words of both wires after which another attempt does not help. */
const FINAL_ERROR_CODES =
  /^(invalid_|authentication|permission|not_found|billing|insufficient_quota|content_filter|unsupported_|[a-z]+_policy)/;

/** The name of an error within a stream, by the word that its provider uses. */
const EVENT_REASONS: readonly (readonly [RegExp, string])[] = [
  [/^rate_limit/, 'provider_rate_limited'],
  [/^overloaded|^server_overloaded|^slow_down/, 'provider_overloaded'],
  [/^(insufficient_quota|billing)/, 'provider_quota_used_up'],
  [/^(authentication|permission|invalid_api_key)/, 'provider_refused_credentials'],
  [/^(not_found|model_not_found)/, 'provider_unknown_model'],
  [/^(timeout|request_timeout|vector_store_timeout)/, 'provider_timed_out'],
  [/content_filter|content_policy|safety|image_content_policy/, 'provider_filtered_content'],
  [/^[a-z]+_policy/, 'provider_filtered_content'],
  [
    /^(invalid_|unsupported_|context_length|string_above_max_length|request_too_large)/,
    'provider_rejected_request',
  ],
];

/** Turns a fault into what a caller is told, and says whether another attempt may help. */
export function classifyFault(fault: unknown, provider: ProviderIdentity): FaultClass {
  const facts = fault instanceof WireFault ? fault.facts : unexpected(fault);
  if (facts.kind === 'status') return classifyStatus(facts, provider);
  const { retryable, reason, what } = describe(facts, provider);
  return { retryable, error: failed(reason, what, provider) };
}

function describe(facts: Exclude<WireFaultFacts, StatusFacts>, provider: ProviderIdentity): Description {
  switch (facts.kind) {
    case 'network':
      return {
        retryable: true,
        reason: 'provider_unreachable',
        what: `could not be reached${note(facts.code)}`,
      };
    case 'event': {
      const word = facts.word ?? '';
      const reason = EVENT_REASONS.find(([words]) => words.test(word))?.[1] ?? 'provider_error';
      const what = `broke off its answer${said(facts.sentence, provider)}`;
      return { retryable: !FINAL_ERROR_CODES.test(word), reason, what };
    }
    case 'cut': {
      const what = 'ended the connection before its answer was complete';
      return { retryable: true, reason: 'provider_stream_cut', what };
    }
    case 'paused': {
      const what = 'paused its answer again and again';
      return { retryable: false, reason: 'provider_paused', what };
    }
    case 'malformed':
      return {
        retryable: false,
        reason: 'provider_error',
        what: `sent ${facts.what}. Check ${provider.section}.base_url`,
      };
    case 'too_large': {
      const what = `sent more ${facts.what} than is accepted`;
      return { retryable: false, reason: 'provider_answer_too_large', what };
    }
    default:
      return facts satisfies never;
  }
}

function classifyStatus(facts: StatusFacts, provider: ProviderIdentity): FaultClass {
  const { status, headers } = facts;
  const retryAfterMs = readRetryAfter(headers);
  const retryable =
    (RETRYABLE_STATUS.has(status) || status >= 500) &&
    headers?.get('x-should-retry') !== 'false' &&
    facts.word !== 'insufficient_quota';
  const { reason, what } = describeStatus(facts, provider);
  return { retryable, retryAfterMs, error: failed(reason, what, provider, retryAfterMs) };
}

function describeStatus(facts: StatusFacts, provider: ProviderIdentity): Omit<Description, 'retryable'> {
  const { status } = facts;
  const sentence = said(facts.sentence, provider);
  // The provider's text about a refused key may quote a part of the key.
  if (REFUSED_STATUS.has(status)) {
    const what = `refused the credentials (${status}). Check ${provider.keySource}`;
    return { reason: 'provider_refused_credentials', what };
  }
  if (status === 402 || facts.word === 'insufficient_quota')
    return {
      reason: 'provider_quota_used_up',
      what: `says that the quota is used up (${status})${sentence}`,
    };
  if (status === 429)
    return { reason: 'provider_rate_limited', what: `limits the rate of calls (429)${sentence}` };
  if (status === 404 || facts.word === 'model_not_found') {
    const what = `does not know what was asked for (${status})${sentence}. Check the model and ${provider.section}.base_url`;
    return { reason: 'provider_unknown_model', what };
  }
  if (status >= 300 && status < 400) {
    const what = `redirected the call (${status}). Set ${provider.section}.base_url to the final address`;
    return { reason: 'provider_error', what };
  }
  if (status < 500 && !RETRYABLE_STATUS.has(status)) {
    return { reason: 'provider_rejected_request', what: `rejected the request (${status})${sentence}` };
  }
  const reason = status === 503 || status === 529 ? 'provider_overloaded' : 'provider_error';
  return { reason, what: `failed (${status})${sentence}` };
}

function failed(
  reason: string,
  what: string,
  provider: ProviderIdentity,
  retryAfterMs?: number,
): ProviderFailed {
  // No cause: errors of the SDKs carry headers and bodies, which must not reach a log.
  return new ProviderFailed(`The model provider ${provider.name} ${what}.`, {
    details: { reason },
    retryAfterSecs: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000),
  });
}

function said(sentence: string | undefined, provider: ProviderIdentity): string {
  const clean = sanitiseSentence(sentence, provider.secrets).replace(/\.$/, '');
  return clean === '' ? '' : `: ${clean}`;
}

const note = (code: string | undefined) => (code === undefined ? '' : ` (${code})`);

function unexpected(error: unknown): WireFaultFacts {
  return {
    kind: 'malformed',
    what: `something unexpected${note(error instanceof Error ? error.name : undefined)}`,
  };
}

const MAX_LENGTH = 200;

/**
 * A provider's text made fit for a caller: one line, at most 200 characters, no secret, no credentials of a URL. Markup
 * is dropped completely. Returns an empty string when nothing is left.
 */
export function sanitiseSentence(text: string | undefined, secrets: readonly string[]): string {
  if (text === undefined || text.trimStart().startsWith('<')) return '';
  const redacted = secrets
    .filter((secret) => secret !== '')
    .reduce((all, secret) => all.replaceAll(secret, '***'), text);
  const line = redacted
    .replace(/\/\/[^/\s@]*@/g, '//***@')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH - 1).trimEnd()}…`;
}

/** The wait a provider asks for, in milliseconds; `retry-after-ms` goes before `retry-after` (seconds or an HTTP date). */
export function readRetryAfter(headers: Headers | undefined, now = Date.now()): number | undefined {
  const millis = numberOf(headers?.get('retry-after-ms'));
  if (millis !== undefined) return millis;
  const text = headers?.get('retry-after');
  const seconds = numberOf(text);
  if (seconds !== undefined) return seconds * 1000;
  // Left to itself, the parser takes nearly anything for a date.
  const date = text?.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberOf(text: string | null | undefined): number | undefined {
  return text && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
