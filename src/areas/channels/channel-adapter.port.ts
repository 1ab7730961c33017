import type { Logger } from '../../platform/logging/logger.js';
import type { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { type Environment } from '../../platform/settings/environment.js';
import { type ChannelSettings } from '../../platform/settings/sections/channels.section.js';
import type { AttachmentType, FileHead } from '../turns/turns.api.js';
import type { ApprovalCard } from './approvals/approval-card.js';
import { ChannelRefused } from './channel-failures.js';

/** Data that only the adapter reads and gets back unchanged; JSON, at most a few hundred bytes. */
export type AdapterData = Readonly<Record<string, unknown>>;

/** Something that was sent beside the text, such as a picture. Its bytes are fetched when the message is answered. */
export interface InboundFile {
  readonly type: AttachmentType;
  /** As people see it; at most 200 characters. */
  readonly name: string;
  readonly mimeType: string;
  /** As announced; null when the platform does not say. */
  readonly sizeBytes: number | null;
  /** Where `fetchFile` finds it; null for what bots cannot fetch, such as a story. Only the adapter reads it. */
  readonly where: AdapterData | null;
}

/** What a message is about, as its platform shows it. */
export interface MessageContext {
  /** The message that it answers. `author` is null when the platform names none, and `agent` when the bot wrote it. */
  readonly quote?: { readonly author: { readonly name: string } | 'agent' | null; readonly text: string };
  /** Who wrote it first. */
  readonly forwardedFrom?: string;
  /** It replaces an earlier message of the same person. */
  readonly isEdit?: boolean;
}

/** One message from the platform. Adapters do not decide who may write. */
export interface InboundMessage {
  /** Identifies the message: a second one with the same id is dropped. At most 256 characters. */
  readonly externalId: string;
  /** Where it was written; each conversation has one session. At most 256 characters. */
  readonly conversation: string;
  readonly sender: {
    readonly id: string;
    /** Other names that `allowed_users` may list, such as `@ada`. */
    readonly aliases: readonly string[];
    /** The name that people see. */
    readonly displayName: string;
  };
  /** Several people write there, so the agent is told who wrote what. */
  readonly isGroup: boolean;
  /** Meant for the bot: written in private, mentioning it, or replying to it. */
  readonly isAddressed: boolean;
  readonly text: string;
  readonly context?: MessageContext;
  /** What was sent beside the text, in order. */
  readonly files?: readonly InboundFile[];
  /** Where the answer goes. */
  readonly target: AdapterData;
}

/** A click on a button of a card. The adapter has verified that the platform says so. */
export interface InboundClick {
  readonly sender: {
    readonly id: string;
    /** Their id in the messages that they write, where it is another. */
    readonly writesAs?: string;
    /** The name that people see. */
    readonly displayName: string;
  };
  /** The button's `data`; anything at all, as people can send what no button has. */
  readonly data: string;
  /** Whether it was made where a card was sent to. Absent where the code that it brings back is all there is. */
  readonly isFrom?: (target: AdapterData) => boolean;
}

/** What came of a click. */
export interface ClickOutcome {
  /**
   * Whether the click decided; if not, the platform shows `text` to the person who clicked so that it cannot be
   * overlooked.
   */
  readonly isAccepted: boolean;
  /** A sentence for the person who clicked, literal. */
  readonly text: string;
  /** The card as it is from now on, for platforms that answer a click with it; elsewhere it is edited (`editCard`) at once. */
  readonly card?: ApprovalCard;
}

/** What the person who clicked is told when `clicked` throws. */
export const NOT_DECIDED = 'Nothing was decided: the gateway cannot do it at the moment. Please click again.';

/** What an adapter may do while it receives. Its lease is held by one replica at a time. */
export interface ReceiverLink {
  /** The cursor that `store` stored last for this channel, on any replica. */
  readonly cursor: AdapterData | null;
  /** The latest active conversations, newest first; at most 200. For platforms that have to be asked for missed messages. */
  conversations(): Promise<readonly string[]>;
  /** Reports that the transport works, shown by a real round trip. */
  connected(): void;
  /**
   * Stores messages and the cursor to resume from in one transaction; from then on they are answered, whatever happens.
   * Acknowledge them to the platform only afterwards. Throws `LeaseLost`, and `Unavailable` without a database.
   */
  store(messages: readonly InboundMessage[], cursor: AdapterData | null): Promise<void>;
  /** Decides what a click decides. Throws `Unavailable` without a database: the click may come again. */
  clicked(click: InboundClick): Promise<ClickOutcome>;
}

/** A reply to be sent. */
export interface OutboundReply {
  readonly target: AdapterData;
  readonly text: string;
  /** The same on every attempt, for platforms that drop duplicates. */
  readonly key: string;
}

/** A file to be sent: what a tool made for the people of the conversation. */
export interface OutboundFile {
  readonly target: AdapterData;
  /** As people see it; at most 100 characters. */
  readonly name: string;
  readonly mimeType: string;
  readonly data: Buffer;
  /** The same on every attempt. */
  readonly key: string;
}

/** The bytes of a file that someone sent. */
export interface FetchedFile {
  readonly data: Buffer;
  /** As the platform answered. */
  readonly mimeType?: string | undefined;
}

/**
 * Connects to one platform. The rest is shared by all adapters: lease, back-off, states and events (`supervision/`),
 * who may write (`inbound/`), sessions and their order (`conversations/`), the outbox (`replies/`).
 * Every call ends when its signal aborts and has its own time limit. No error message contains a secret.
 */
export abstract class ChannelAdapter {
  /** Longest reply in UTF-16 code units; longer ones are split. */
  abstract readonly maxReplyLength: number;
  /** Whether the sender gets the answer in the response, so that nothing has to be sent. */
  readonly answersInResponse: boolean = false;
  /** Whether the platform recognises a reply by its key, so that it is safe to send it twice. */
  readonly dropsDuplicates: boolean = false;

  /**
   * Receives until the signal aborts. Throws `ChannelRefused` when the platform refuses the credentials, which is final,
   * and anything else when the connection is lost; it is then called again.
   */
  abstract receive(link: ReceiverLink, signal: AbortSignal): Promise<void>;

  /** Makes one round trip to the platform with our credentials. Throws like `receive`. */
  abstract check(signal: AbortSignal): Promise<void>;

  /** @returns the platform's id of the reply, if it has one that `edit` accepts. Throws `NotSent`. */
  abstract send(reply: OutboundReply, signal: AbortSignal): Promise<string | undefined>;

  /** Replaces a reply; repeating it does no harm. Throws `NotSent`. Absent where the platform cannot edit. */
  edit?(externalId: string, reply: OutboundReply, signal: AbortSignal): Promise<void>;

  /**
   * Sends a file. Throws `NotSent`; of `rejected` people read the message, which ends a sentence. Absent where the platform
   * takes no files.
   */
  sendFile?(file: OutboundFile, signal: AbortSignal): Promise<string | undefined>;

  /**
   * Whether somebody comes for the bytes after the file was sent. They are then kept for three days after the turn. Absent where
   * that is never so.
   */
  keepsFile?(file: FileHead): boolean;

  /**
   * The bytes of a file, at most `maxBytes`. Credentials go to the platform's own host only. Throws `FileNotHad`. Absent where
   * people cannot send files.
   */
  fetchFile?(file: InboundFile, maxBytes: number, signal: AbortSignal): Promise<FetchedFile>;

  /** Posts a card with its buttons. @returns the platform's id of it. Throws `NotSent`. Absent where nobody can click. */
  sendCard?(target: AdapterData, card: ApprovalCard, signal: AbortSignal): Promise<string | undefined>;

  /** Replaces a card, its buttons too; repeating it does no harm. Throws `NotSent`. */
  editCard?(externalId: string, target: AdapterData, card: ApprovalCard, signal: AbortSignal): Promise<void>;

  /** Shows for some seconds that an answer is being written. A failure does no harm. */
  typing?(target: AdapterData, signal: AbortSignal): Promise<void>;
}

/** What every adapter is constructed from. */
export interface AdapterParts {
  readonly name: string;
  readonly settings: ChannelSettings;
  readonly environment: Environment;
  /** The only way to reach the network. */
  readonly outbound: OutboundClient;
  readonly logger: Logger;
}

/** A credential from the settings, or from the variable that they name. Throws `ChannelRefused` when there is none. */
export function credential(value: string, variable: string, environment: Environment): string {
  const found = value !== '' ? value : (environment.lookup(variable) ?? '');
  if (found.trim() === '') throw new ChannelRefused(`the variable ${variable} is not set`);
  return found.trim();
}
