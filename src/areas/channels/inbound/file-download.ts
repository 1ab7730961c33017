import { OutboundFailed, OutboundRefused } from '../../../platform/outbound/outbound.errors.js';
import type { OutboundClient, OutboundResponse } from '../../../platform/outbound/outbound-client.js';
import type { FetchedFile } from '../channel-adapter.port.js';
import { FileNotHad } from '../channel-failures.js';

export interface Download {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Gets a file through the guarded client, without redirects. Throws `FileNotHad`; its messages contain no URL. */
export async function download(outbound: OutboundClient, call: Download): Promise<FetchedFile> {
  const answer = await outbound.read({ method: 'GET', ...call }).catch((error: unknown) => {
    throw notHad(error);
  });
  if (answer.status !== 200) throw refusal(answer);
  if (answer.body.length === 0) throw new FileNotHad('never', 'it is empty');
  const type = String(answer.headers['content-type'] ?? '');
  return { data: answer.body, mimeType: type.split(';')[0]?.trim().toLowerCase() || undefined };
}

/** A file that does not fit what is left of its message. */
export function tooLarge(): FileNotHad {
  return new FileNotHad('never', 'it is too large: a message may bring 20 MiB');
}

function notHad(error: unknown): unknown {
  if (error instanceof OutboundRefused)
    return new FileNotHad('never', 'it is kept at an address that I may not call');
  if (!(error instanceof OutboundFailed)) return error;
  return error.reason === 'too_large'
    ? tooLarge()
    : new FileNotHad('later', `it could not be fetched: ${error.reasonText}`);
}

function refusal({ status, headers }: OutboundResponse): FileNotHad {
  const sentence = `it could not be fetched: the answer was ${status}`;
  if (status === 429 || status >= 500) {
    const secs = Number(headers['retry-after']);
    return new FileNotHad('later', sentence, Number.isFinite(secs) && secs > 0 ? secs * 1000 : undefined);
  }
  return new FileNotHad('never', sentence);
}
