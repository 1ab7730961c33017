import { readFile } from 'node:fs/promises';
import type { OutboundClient, OutboundResponse } from '../../../../platform/outbound/outbound-client.js';
import {
  ChannelRefused,
  ChannelUnreachable,
  connectionFailureOf,
  NotSent,
  sendFailureOf,
} from '../../channel-failures.js';

const SCOPE = 'https://api.botframework.com/.default';
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const MAX_RESPONSE_BYTES = 262_144;
const MAX_TOKEN_LENGTH = 16_384;
/** A token is renewed so long before it expires. */
const EARLY_MS = 300_000;
const SIGN_IN = { name: 'The sign-in of Microsoft', address: 'login_url' };
const TEAMS = { name: 'Teams', address: 'the serviceUrl of Teams' };

export interface TeamsAccess {
  readonly appId: string;
  /** Empty: the app is one of several tenants. */
  readonly tenantId: string;
  readonly loginUrl: string;
  /** Empty when an assertion is used. */
  readonly secret: string;
  /** A file with a token that stands for the app (workload identity federation); empty when a secret is used. */
  readonly assertionFile: string;
  readonly timeoutMs: number;
}

interface BotToken {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** The bot's token (OAuth 2.0, client credentials), kept until shortly before it expires. */
export class TeamsToken {
  private token: BotToken | undefined;
  /** The running request for a token, shared by all callers that need one meanwhile. */
  private fetching: Promise<string> | undefined;

  constructor(
    private readonly outbound: OutboundClient,
    private readonly access: TeamsAccess,
  ) {}

  /** Throws `ChannelRefused` for wrong credentials, `ChannelUnreachable` otherwise. */
  async get(signal: AbortSignal): Promise<string> {
    if (this.token !== undefined && this.token.expiresAtMs > Date.now()) return this.token.value;
    this.fetching ??= this.fetched().finally(() => {
      this.fetching = undefined;
    });
    return unlessAborted(this.fetching, signal);
  }

  /** The same, in any case with a new one: it shows that the credentials are good. */
  renew(signal: AbortSignal): Promise<string> {
    return unlessAborted(this.fetched(), signal);
  }

  /** The connector refuses it: the next call gets another one. */
  forget(value: string): void {
    if (this.token?.value === value) this.token = undefined;
  }

  /** Ends only by its own time-out: a caller that stops waiting does not end it for the others. */
  private async fetched(): Promise<string> {
    const token = await this.fetch(new AbortController().signal);
    this.token = token;
    return token.value;
  }

  private async fetch(signal: AbortSignal): Promise<BotToken> {
    const { loginUrl, tenantId, appId, timeoutMs } = this.access;
    const url = `${loginUrl}/${tenantId === '' ? 'botframework.com' : encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
    const form = {
      grant_type: 'client_credentials',
      client_id: appId,
      scope: SCOPE,
      ...(await this.proof()),
    };
    const answer = await this.outbound
      .read({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
        ...{ timeoutMs, maxBytes: MAX_RESPONSE_BYTES, signal },
      })
      .catch((error: unknown) => {
        throw connectionFailureOf(SIGN_IN, error);
      });
    return tokenOf(answer);
  }

  private async proof(): Promise<Record<string, string>> {
    const { secret, assertionFile } = this.access;
    if (assertionFile === '') return { client_secret: secret };
    // Read each time, because its issuer replaces it every hour.
    const assertion = await readFile(assertionFile, 'utf8').catch(() => {
      throw new ChannelRefused(`assertion_file ${assertionFile} cannot be read`);
    });
    return { client_assertion_type: ASSERTION, client_assertion: assertion.trim() };
  }
}

/** Rejects with the signal's reason as soon as it is aborted. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function tokenOf(answer: OutboundResponse): BotToken {
  const body = objectOf(answer.body);
  const { access_token: value, expires_in: secs, error } = body;
  if (answer.status === 200 && typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH) {
    const lifeMs = (Number(secs) > 0 ? Number(secs) : 3600) * 1000;
    return { value, expiresAtMs: Date.now() + lifeMs - Math.min(EARLY_MS, lifeMs / 2) };
  }
  const word = typeof error === 'string' && /^[a-z_]{1,64}$/.test(error) ? ` ${error}` : '';
  if (answer.status === 400 || answer.status === 401)
    throw new ChannelRefused(`Microsoft refuses the credentials of the app: ${answer.status}${word}`);
  throw new ChannelUnreachable(
    `The sign-in of Microsoft answered ${answer.status}${word}`,
    retryAfterMs(answer),
  );
}

/** Teams finds the message too long, and has not taken it. */
export class TooLong extends NotSent {}

export interface TeamsCall {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  /** Absent where the address says it all. */
  readonly activity?: object;
}

/** Calls of the connector (Bot Framework, REST). */
export class TeamsClient {
  constructor(
    private readonly outbound: OutboundClient,
    private readonly token: TeamsToken,
    private readonly timeoutMs: number,
  ) {}

  /** @returns the id of the activity. Throws `NotSent`. */
  async call(call: TeamsCall, signal: AbortSignal): Promise<string | undefined> {
    const first = await this.attempt(call, signal);
    // Refused before anything was done: the token expired or was revoked meanwhile.
    const answer = first.status === 401 ? await this.attempt(call, signal) : first;
    const { status } = answer;
    if (status < 200 || status > 299) {
      const said = `Teams answered ${status}${codeOf(answer)}`;
      if (status === 413) throw new TooLong('rejected', said);
      throw new NotSent(whyOf(status), said, retryAfterMs(answer));
    }
    const { id } = objectOf(answer.body);
    return typeof id === 'string' && id !== '' && id.length <= 1024 ? id : undefined;
  }

  private async attempt(
    { method, url, activity }: TeamsCall,
    signal: AbortSignal,
  ): Promise<OutboundResponse> {
    const token = await this.token.get(signal).catch((error: unknown) => {
      const afterMs = error instanceof ChannelUnreachable ? error.retryAfterMs : undefined;
      throw new NotSent('retry', error instanceof Error ? error.message : String(error), afterMs);
    });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const answer = await this.outbound
      .read({
        ...{ method, url, headers, ...(activity === undefined ? {} : { body: JSON.stringify(activity) }) },
        ...{ timeoutMs: this.timeoutMs, maxBytes: MAX_RESPONSE_BYTES, signal },
      })
      .catch((error: unknown) => {
        throw sendFailureOf(TEAMS, error);
      });
    if (answer.status === 401) this.token.forget(token);
    return answer;
  }
}

/** 500, 502 and 504 may come after the message was accepted. */
const LATER = new Set([401, 408, 412, 429, 503]);

function whyOf(status: number): NotSent['why'] {
  if (LATER.has(status)) return 'retry';
  return status >= 500 ? 'unknown' : 'rejected';
}

function codeOf({ body }: OutboundResponse): string {
  const { error } = objectOf(body) as { error?: { code?: unknown } };
  const code = error?.code;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? ` ${code}` : '';
}

function retryAfterMs({ headers }: OutboundResponse): number | undefined {
  const secs = Number(headers['retry-after']);
  return Number.isFinite(secs) && secs > 0 ? secs * 1000 : undefined;
}

function objectOf(body: Buffer): Record<string, unknown> {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
