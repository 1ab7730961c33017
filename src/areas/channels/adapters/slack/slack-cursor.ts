import type { AdapterData } from '../../channel-adapter.port.js';
import { isGroup, type SlackBot, type SlackMessage } from './slack-messages.js';

/** Whatever was said shortly before the very first start is still answered; clocks differ by less. */
const FIRST_LOOK_BACK_MS = 60_000;

/** Where to go on: as which bot, after which message, and in what kinds of channels the app is told of everything. */
export interface SlackCursor {
  readonly team: string;
  readonly bot: string;
  readonly ts: string;
  readonly heard: readonly string[];
}

/** Undefined for another bot's, and before the first start. */
export function cursorOf(stored: AdapterData | null, bot: SlackBot): SlackCursor | undefined {
  const { team, bot: user, ts, heard } = stored ?? {};
  if (team !== bot.team || user !== bot.user || typeof ts !== 'string') return undefined;
  return { team: bot.team, bot: bot.user, ts, heard: Array.isArray(heard) ? heard.map(String) : [] };
}

export function firstCursor({ team, user }: SlackBot): SlackCursor {
  return { team, bot: user, ts: ((Date.now() - FIRST_LOOK_BACK_MS) / 1000).toFixed(6), heard: [] };
}

export function cursorAfter(cursor: SlackCursor, messages: readonly SlackMessage[]): SlackCursor {
  const ts = messages.reduce((last, one) => (Number(one.ts) > Number(last) ? one.ts : last), cursor.ts);
  const kinds = messages.flatMap((one) =>
    one.type === 'message' && isGroup(one) ? (one.channel_type ?? []) : [],
  );
  return { ...cursor, ts, heard: [...new Set([...cursor.heard, ...kinds])].slice(0, 8) };
}
