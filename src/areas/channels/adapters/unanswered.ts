import { OutboundFailed, OutboundRefused } from '../../../platform/outbound/outbound.errors.js';
import { ChannelRefused, ChannelUnreachable, NotSent } from '../channel-failures.js';

/** The connection was never made, or nothing was asked of it. */
const NEVER_LEFT = new Set(['connection_refused', 'name_not_resolved', 'unreachable', 'tls', 'not_http']);

/** Whose calls they are, and what people call the address that is called. */
interface Platform {
  readonly name: string;
  readonly address: string;
}

/** A call that brought no answer, as the supervisor understands it. */
export function unansweredCall({ name, address }: Platform, cause: unknown): Error {
  if (cause instanceof OutboundRefused) return new ChannelRefused(`${address} ${cause.message}`);
  return new ChannelUnreachable(`${name} cannot be reached: ${wordsOf(cause)}`);
}

/** A call that brought no answer, as the outbox understands it. */
export function unansweredSend({ name, address }: Platform, cause: unknown): NotSent {
  if (cause instanceof OutboundRefused) return new NotSent('again', `${address} ${cause.message}`);
  const left = !(cause instanceof OutboundFailed && NEVER_LEFT.has(cause.reason));
  return new NotSent(left ? 'unknown' : 'again', `${name} did not answer: ${wordsOf(cause)}`);
}

function wordsOf(cause: unknown): string {
  return cause instanceof OutboundFailed ? cause.reasonText : 'the answer is not understood';
}
