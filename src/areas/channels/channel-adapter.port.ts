import { type OutboundClient } from '../../platform/outbound/outbound-client.js';
import { type Environment } from '../../platform/settings/environment.js';
import { type ChannelSettings } from '../../platform/settings/sections/channels.section.js';
import { ChannelRefused } from './channel-failures.js';

/** Data of an adapter's own that comes back to it as it was; JSON, at most a few hundred bytes. */
export type AdapterData = Readonly<Record<string, unknown>>;

/** One message that arrived, as the platform tells it. Who may write is not for adapters to say. */
export interface InboundMessage {
  /** Names the message for good: a second one with the same id is dropped. At most 256 characters. */
  readonly externalId: string;
  /** Where it was said; there is one session for it. At most 256 characters. */
  readonly conversation: string;
  readonly sender: {
    readonly id: string;
    /** Other names under which `allowed_users` may let them in, such as `@ada`. */
    readonly aliases: readonly string[];
    /** What people call them. */
    readonly displayName: string;
  };
  /** Several people write there, so the agent is told who says what. */
  readonly isGroup: boolean;
  /** It was said to the bot: in private, by mention, or as a reply to it. */
  readonly isAddressed: boolean;
  readonly text: string;
  /** Where the answer goes. */
  readonly target: AdapterData;
}

/** What an adapter may do while it receives. The lease that is behind it is held by one replica at a time. */
export interface ReceiverLink {
  /** What `store` stored last, for this channel, on whatever replica. */
  readonly cursor: AdapterData | null;
  /** The conversations in which somebody wrote last, newest first; at most 200. For platforms that are asked what was missed. */
  conversations(): Promise<readonly string[]>;
  /** The transport is up, by a real round trip. */
  connected(): void;
  /**
   * Stores messages and the place to go on from, in one transaction; they are answered from then on, whatever happens.
   * Only then tell the platform that they have arrived. Throws `LeaseLost`, and `Unavailable` without a database.
   */
  store(messages: readonly InboundMessage[], cursor: AdapterData | null): Promise<void>;
}

/** Where a reply goes, and what is known of it. */
export interface OutboundReply {
  readonly target: AdapterData;
  readonly text: string;
  /** The same on every attempt; for platforms that drop what they know already. */
  readonly key: string;
}

/**
 * Speaks to one platform. Everything around it is done for all of them: the lease, back-off, states and events
 * (`supervision/`), who may write (`inbound/`), sessions and their order (`conversations/`), the outbox (`replies/`).
 * Every call ends with its signal and has a time limit of its own. No message of an error holds a secret.
 */
export abstract class ChannelAdapter {
  /** Longest reply in UTF-16 units; longer ones are split. */
  abstract readonly longestReply: number;
  /** Whether answers are fetched by whoever sent the message, so that nothing is sent. */
  readonly answersInResponse: boolean = false;
  /** Whether the platform knows a reply by its key, so that sending one twice is the same as once. */
  readonly dropsDuplicates: boolean = false;

  /**
   * Receives until the signal is aborted. Throws `ChannelRefused` when the credentials are refused, which is final, and
   * anything else when the connection is lost, after which it is called again.
   */
  abstract receive(link: ReceiverLink, signal: AbortSignal): Promise<void>;

  /** One round trip to the platform with our credentials. Throws like `receive`. */
  abstract check(signal: AbortSignal): Promise<void>;

  /** @returns the platform's id of the reply, when it has one that `edit` takes. Throws `NotSent`. */
  abstract send(reply: OutboundReply, signal: AbortSignal): Promise<string | undefined>;

  /** Replaces a reply; doing it twice is the same as once. Throws `NotSent`. Absent where the platform cannot. */
  edit?(externalId: string, reply: OutboundReply, signal: AbortSignal): Promise<void>;

  /** Shows that an answer is being written, for some seconds. Failing is no harm. */
  typing?(target: AdapterData, signal: AbortSignal): Promise<void>;
}

/** What an adapter is made of. */
export interface AdapterParts {
  readonly name: string;
  readonly settings: ChannelSettings;
  readonly environment: Environment;
  /** The only way out. */
  readonly outbound: OutboundClient;
}

/** A credential from the settings or from the variable that they name. Throws `ChannelRefused` when it is not there. */
export function credential(value: string, variable: string, environment: Environment): string {
  const found = value !== '' ? value : (environment.lookup(variable) ?? '');
  if (found.trim() === '') throw new ChannelRefused(`the variable ${variable} is not set`);
  return found.trim();
}
