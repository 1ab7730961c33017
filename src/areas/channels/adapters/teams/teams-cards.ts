import { z } from 'zod';
import type { ApprovalCard, CardButton } from '../../approvals/approval-card.js';
import {
  type AdapterData,
  type ClickOutcome,
  type InboundClick,
  NOT_DECIDED,
} from '../../channel-adapter.port.js';
import { senderOf, type TeamsActivity } from './teams-activity.js';

export const ADAPTIVE_CARD = 'application/vnd.microsoft.card.adaptive';
const MESSAGE = 'application/vnd.microsoft.activity.message';
const CLICK = 'adaptiveCard/action';
const VERB = 'agw_approval';
const MAX_VALUE = 200;
/** Lines that are blocks of their own; the rest shares one, so that the card stays far below the 28 KB of a message. */
const MAX_LINES = 60;
/** What clients put a date in place of, so that people would read other letters than there are. */
const DATE_FUNCTION = /(?<=\{)(?=\{\s*(?:DATE|TIME)\b)/i;

/**
 * A card as an Adaptive Card (schema 1.4: the first with `Action.Execute`). Runs of text are literal, blocks of text would
 * be Markdown. Clients fold line breaks and spaces within a run, so each line is a block, and indents by spaces that stay.
 */
export function teamsCard({ title, details, outcome, buttons }: ApprovalCard): object {
  const lines = details.split('\n');
  const shown = [...lines.slice(0, MAX_LINES), lines.slice(MAX_LINES).join(' ')].filter(
    (line) => line !== '',
  );
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    ...{ type: 'AdaptiveCard', version: '1.4' },
    body: [
      textBlock(title),
      ...shown.map((line) => ({ ...textBlock(indented(line), { fontType: 'Monospace' }), spacing: 'None' })),
      ...(outcome === undefined ? [] : [textBlock(outcome, { weight: 'Bolder' })]),
    ],
    actions: buttons.map(actionOf),
  };
}

function textBlock(text: string, style: object = {}) {
  const inlines = text.split(DATE_FUNCTION).map((part) => ({ type: 'TextRun', text: part, ...style }));
  return { type: 'RichTextBlock', inlines };
}

function indented(line: string): string {
  return line.replace(/^ +/, (spaces) => '\u00A0'.repeat(spaces.length));
}

function actionOf({ label, style, data }: CardButton) {
  const look = style === 'danger' ? 'destructive' : 'positive';
  return { type: 'Action.Execute', title: label, style: look, verb: VERB, data: { [VERB]: data } };
}

const action = z.object({
  action: z.object({ verb: z.literal(VERB), data: z.object({ [VERB]: z.string().max(MAX_VALUE) }) }),
});

/**
 * A click on a card, whatever it brings back: a changed client sends any data for any button, and what no button of ours has
 * is the empty text, which decides nothing. Undefined for all other activities.
 */
export function clickOf(one: TeamsActivity): InboundClick | undefined {
  const { type, name, value, from, conversation } = one;
  if (type !== 'invoke' || name !== CLICK || from === undefined || conversation === undefined)
    return undefined;
  const { id, displayName } = senderOf(from);
  const data = action.safeParse(value).data?.action.data[VERB] ?? '';
  return {
    sender: { id, displayName },
    data,
    isFrom: (target: AdapterData) => roomOf(String(target['conversation'])) === roomOf(conversation.id),
  };
}

/** A thread is named by its room and its first message. */
function roomOf(conversation: string): string {
  return conversation.replace(/;messageid=.*$/s, '');
}

/**
 * What Teams expects as the answer to a click (Universal Action Model): the card that replaces the clicked one, or a
 * text that only the person who clicked sees. Undefined when nothing could be decided.
 */
export function clickAnswer(outcome: ClickOutcome | undefined): object {
  if (outcome?.isAccepted === true && outcome.card !== undefined)
    return { statusCode: 200, type: ADAPTIVE_CARD, value: teamsCard(outcome.card) };
  return { statusCode: 200, type: MESSAGE, value: outcome?.text ?? NOT_DECIDED };
}
