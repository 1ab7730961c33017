import type { KnownBlock } from '@slack/web-api';
import { z } from 'zod';
import type { ApprovalCard, CardButton } from '../../approvals/approval-card.js';
import type { InboundClick } from '../../channel-adapter.port.js';
import { literalText } from '../../formatting/slack-blocks.js';
import type { SlackEnvelope } from './slack-connection.js';
import type { SlackBot } from './slack-messages.js';

/** What our buttons are called; each in a message has to have a name of its own. */
const ACTION = 'agw_approval_';
const MAX_VALUE = 200;

/** A card as a message of Slack's Web API. Its texts are literal, so nothing in them can notify anyone. */
export function slackCard({ title, details, outcome, buttons }: ApprovalCard): {
  text: string;
  blocks: KnownBlock[];
} {
  const lines = outcome === undefined ? [title] : [title, outcome];
  const blocks: KnownBlock[] = [
    {
      type: 'rich_text',
      elements: [
        { type: 'rich_text_section', elements: [{ type: 'text', text: title }] },
        { type: 'rich_text_preformatted', elements: [{ type: 'text', text: details }] },
        ...(outcome === undefined
          ? []
          : [
              {
                type: 'rich_text_section' as const,
                elements: [{ type: 'text' as const, text: outcome, style: { bold: true } }],
              },
            ]),
      ],
    },
  ];
  if (buttons.length > 0) blocks.push({ type: 'actions', elements: buttons.map(buttonOf) });
  return { text: literalText(lines.join('\n')), blocks };
}

function buttonOf({ label, style, data }: CardButton) {
  const text = { type: 'plain_text' as const, text: label };
  return { type: 'button' as const, text, style, value: data, action_id: `${ACTION}${style}` };
}

const id = z.string().regex(/^[A-Za-z0-9]{1,64}$/);

/** A click on one button of a message. */
const blockActions = z.object({
  type: z.literal('block_actions'),
  team: z.object({ id }).nullish(),
  user: z.object({ id, team_id: id.nullish(), name: z.string().max(256).nullish() }),
  channel: z.object({ id }),
  container: z.object({ thread_ts: z.string().max(32).nullish() }).nullish(),
  actions: z
    .array(z.object({ type: z.string(), action_id: z.string(), value: z.string().max(MAX_VALUE) }))
    .length(1),
});

/** Who clicked, and where to tell them. */
export interface SlackClick extends InboundClick {
  readonly address: { readonly channel: string; readonly user: string; readonly thread_ts?: string };
}

/**
 * The click of an envelope, on one of our buttons. Ids of people are unique only within a workspace, so somebody from
 * another workspace than the bot's goes by both ids; their messages have only the person's. Undefined for everything
 * else. Envelopes come over the socket that Slack opened for our app's token.
 */
export function clickOf({ type, body }: SlackEnvelope, bot: SlackBot): SlackClick | undefined {
  if (type !== 'interactive') return undefined;
  const { data } = blockActions.safeParse(body);
  const [action] = data?.actions ?? [];
  if (data === undefined || action?.type !== 'button' || !action.action_id.startsWith(ACTION))
    return undefined;
  const { user, channel, container } = data;
  const team = user.team_id ?? data.team?.id;
  const thread = container?.thread_ts;
  return {
    sender: {
      ...(team === bot.team ? { id: user.id } : { id: `${team}/${user.id}`, writesAs: user.id }),
      displayName: user.name ?? '',
    },
    data: action.value,
    address: {
      ...{ channel: channel.id, user: user.id },
      ...(typeof thread === 'string' && { thread_ts: thread }),
    },
  };
}
