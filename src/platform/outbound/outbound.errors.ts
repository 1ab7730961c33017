/** Why a URL is not called at all. */
export type RefusalReason = 'url' | 'scheme' | 'credentials' | 'port' | 'address' | 'plain';

const SENTENCES: Readonly<Record<RefusalReason, string>> = {
  url: 'must be a URL such as https://example.com/path',
  scheme: 'must be an http or https URL',
  credentials: 'must not carry a user or a password',
  port: 'must not use a port that is reserved for another protocol',
  address: 'must lead to a public address; the [security] settings name the exceptions',
  plain: 'must be an https URL, except to an address that the [security] settings name',
};

/** The guard refuses this URL. The message states the rule, never what the name resolved to. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';

  constructor(readonly reason: RefusalReason) {
    super(SENTENCES[reason]);
  }
}

/** Why a call that was allowed got no answer. */
export type FailureReason =
  | 'timeout'
  | 'aborted'
  | 'name_not_resolved'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  /** The company's proxy cannot be reached, or refuses the call. */
  | 'proxy'
  | 'tls'
  | 'not_http'
  | 'too_large';

/** A call that was allowed and got no answer; the cause is kept for logs. */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed';
  /** The reason in words, as part of a sentence. */
  readonly reasonText: string;

  constructor(
    readonly reason: FailureReason,
    cause?: unknown,
  ) {
    const words = reason === 'proxy' ? 'the proxy did not connect' : reason.replaceAll('_', ' ');
    super(`The call failed: ${words}.`, cause === undefined ? undefined : { cause });
    this.reasonText = words;
  }
}

const REASONS: Readonly<Record<string, FailureReason>> = {
  ENOTFOUND: 'name_not_resolved',
  EAI_AGAIN: 'name_not_resolved',
  EAI_FAIL: 'name_not_resolved',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_ABORTED: 'aborted',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
};

/** Turns what the client threw into one of our errors; refusals and failures stay as they are. Throws nothing. */
export function outboundError(error: unknown): OutboundRefused | OutboundFailed {
  if (isOurs(error)) return error;
  // undici's fetch wraps what its connector threw.
  const cause = fieldOf(error, 'cause');
  if (isOurs(cause)) return cause;
  return new OutboundFailed(reasonOf(codeOf(error) ?? codeOf(cause)), error);
}

function isOurs(error: unknown): error is OutboundRefused | OutboundFailed {
  return error instanceof OutboundRefused || error instanceof OutboundFailed;
}

function reasonOf(code: string | undefined): FailureReason {
  if (code === undefined) return 'unreachable';
  if (code.startsWith('HPE_')) return 'not_http';
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return 'tls';
  return REASONS[code] ?? 'unreachable';
}

/** Node tries every address of a name and collects the errors; any of them will do. */
function codeOf(error: unknown): string | undefined {
  const collected = fieldOf(error, 'errors');
  if (Array.isArray(collected)) return codeOf(collected[0]);
  const code = fieldOf(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

function fieldOf(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null && name in error
    ? (error as Record<string, unknown>)[name]
    : undefined;
}
