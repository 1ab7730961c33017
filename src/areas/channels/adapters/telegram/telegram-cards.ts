import type { CallbackQuery, InlineKeyboardButton, MessageEntity } from 'grammy/types';
import type { ApprovalCard } from '../../approvals/approval-card.js';
import type { InboundClick } from '../../channel-adapter.port.js';

interface TelegramCard {
  readonly text: string;
  readonly options: {
    readonly entities: MessageEntity[];
    readonly link_preview_options: { readonly is_disabled: true };
    readonly reply_markup: { readonly inline_keyboard: InlineKeyboardButton[][] };
  };
}

/** A card as a message of the Bot API. Without a parse mode nothing in it is markup. */
export function telegramCard({ title, details, outcome, buttons }: ApprovalCard): TelegramCard {
  const head = `${title}\n`;
  const tail = outcome === undefined ? '' : `\n${outcome}`;
  const entities: MessageEntity[] = [{ type: 'pre', offset: head.length, length: details.length }];
  if (outcome !== undefined)
    entities.push({ type: 'bold', offset: head.length + details.length + 1, length: outcome.length });
  const row = buttons.map(({ label, data }) => ({ text: label, callback_data: data }));
  return {
    text: `${head}${details}${tail}`,
    options: {
      entities,
      link_preview_options: { is_disabled: true },
      // Without rows, an edit takes the buttons away.
      reply_markup: { inline_keyboard: row.length === 0 ? [] : [row] },
    },
  };
}

/** Who clicked, as Telegram says; a changed client can send any data. Undefined for bots, games, and what is no click. */
export function clickOf({ from, data }: Partial<CallbackQuery>): InboundClick | undefined {
  if (typeof from?.id !== 'number' || from.is_bot || typeof data !== 'string') return undefined;
  const names: unknown[] = [from.first_name, from.last_name];
  const displayName = names.filter((name) => typeof name === 'string' && name !== '').join(' ');
  return { sender: { id: String(from.id), displayName }, data };
}
