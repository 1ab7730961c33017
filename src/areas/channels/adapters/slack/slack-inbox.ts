import type { WebClient } from '@slack/web-api';
import { type InboundMessage, NOT_DECIDED, type ReceiverLink } from '../../channel-adapter.port.js';
import { literalText } from '../../formatting/slack-blocks.js';
import { clickOf, type SlackClick } from './slack-cards.js';
import {
  cursorAfter,
  cursorOf,
  firstCursor,
  SlackCatchUp,
  type SlackCursor,
  SlackHistory,
} from './slack-catch-up.js';
import { connectionFailure } from './slack-client.js';
import type { SlackEnvelope } from './slack-connection.js';
import {
  eventOf,
  inboundOf,
  isGroup,
  messageOf,
  type SlackBot,
  type WrittenMessage,
} from './slack-messages.js';

const MAX_PEOPLE = 5000;
const KNOWN_FOR_MS = 3_600_000;
/** After a failed lookup, such as a missing scope, the next one waits this long. */
const UNKNOWN_FOR_MS = 60_000;

interface Known {
  readonly name: string;
  readonly until: number;
}

/** Display names, cached for an hour. Users that cannot be looked up go by their id. */
export class SlackPeople {
  private readonly known = new Map<string, Known>();

  /** Never rejects. */
  async nameOf(user: string, api: WebClient): Promise<string> {
    const known = this.known.get(user);
    if (known !== undefined && known.until > Date.now()) return known.name;
    const name = await api.users.info({ user }).then(
      ({ user: found }) => found?.profile?.display_name || found?.real_name || found?.name,
      () => undefined,
    );
    if (this.known.size >= MAX_PEOPLE) this.known.clear();
    this.known.set(user, {
      name: name ?? user,
      until: Date.now() + (name === undefined ? UNKNOWN_FOR_MS : KNOWN_FOR_MS),
    });
    return name ?? user;
  }
}

const MAX_AT_ONCE = 100;
const MAX_TELLING = 20;

export interface SlackInboxParts {
  readonly link: ReceiverLink;
  readonly bot: SlackBot;
  readonly api: WebClient;
  readonly people: SlackPeople;
  readonly signal: AbortSignal;
}

/** Stores what people write, in order: first what was missed, then what arrives. */
export class SlackInbox {
  private cursor: SlackCursor | undefined;
  private telling = 0;

  constructor(private readonly parts: SlackInboxParts) {
    this.cursor = cursorOf(parts.link.cursor, parts.bot);
  }

  /** Throws `ChannelRefused` without the scopes that histories need. */
  async catchUp(): Promise<void> {
    const { link, bot, api, signal } = this.parts;
    if (this.cursor === undefined) {
      this.cursor = firstCursor(bot);
      await link.store([], { ...this.cursor });
    }
    const history = new SlackHistory(api, signal);
    const catchUp = new SlackCatchUp(history, bot, this.cursor, await link.conversations());
    const missed = await catchUp.missed().catch((error: unknown) => {
      throw connectionFailure(error);
    });
    for (let at = 0; at < missed.length; at += MAX_AT_ONCE) {
      const some = missed.slice(at, at + MAX_AT_ONCE);
      await this.store(some, cursorAfter(this.cursor, some));
    }
  }

  /** Acknowledges the envelopes only after their messages are stored. */
  async receive(envelopes: readonly SlackEnvelope[]): Promise<void> {
    const messages = envelopes.flatMap(
      (envelope) => messageOf(eventOf(envelope, this.parts.bot), this.parts.bot) ?? [],
    );
    if (messages.length > 0)
      await this.store(messages, cursorAfter(this.cursor ?? firstCursor(this.parts.bot), messages));
    await Promise.all(envelopes.map((envelope) => this.click(envelope)));
    // Slack repeats what could not be acknowledged; the repetition is recognised by its id.
    await Promise.allSettled(envelopes.map(({ ack }) => ack()));
  }

  /**
   * A click that decided something shows in the message. Anybody else is told why their click decided nothing, in a
   * message that only they see.
   */
  private async click(envelope: SlackEnvelope): Promise<void> {
    const { link, bot } = this.parts;
    const click = clickOf(envelope, bot);
    if (click === undefined) return;
    const outcome = await link.clicked(click).catch(() => undefined);
    if (outcome?.isAccepted !== true) this.tell(click, outcome?.text ?? NOT_DECIDED);
  }

  /** Does not wait; past a bound nobody is told. */
  private tell({ address }: SlackClick, text: string): void {
    if (this.telling >= MAX_TELLING) return;
    this.telling += 1;
    void this.parts.api.chat
      .postEphemeral({ ...address, text: literalText(text) })
      .catch(() => undefined)
      .finally(() => {
        this.telling -= 1;
      });
  }

  private async store(messages: readonly WrittenMessage[], cursor: SlackCursor): Promise<void> {
    const { link } = this.parts;
    const inbound: InboundMessage[] = [];
    for (const message of messages) inbound.push(await this.inboundOf(message));
    await link.store(inbound, { ...cursor });
    this.cursor = cursor;
  }

  private async inboundOf(message: WrittenMessage): Promise<InboundMessage> {
    const { bot, people, api } = this.parts;
    const name = isGroup(message) ? await people.nameOf(message.user, api) : message.user;
    return inboundOf(message, bot, name);
  }
}
