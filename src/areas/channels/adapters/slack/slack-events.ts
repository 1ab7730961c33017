import { z } from 'zod';
import type { SlackEnvelope } from './slack-connection.js';
import type { SlackBot } from './slack-messages.js';

const body = z.object({
  event: z.object({ type: z.string() }).loose(),
  authorizations: z
    .array(z.object({ user_id: z.string().nullish(), is_bot: z.boolean().nullish() }))
    .nullish(),
});

/** What the app is told when somebody takes its rights away. */
const ACCESS_REVOKED = new Set(['tokens_revoked', 'app_uninstalled']);

/** The event of an envelope; none for those of other kinds, and for other workspaces that have installed the same app. */
export function eventOf(
  { type, body: value }: SlackEnvelope,
  bot: SlackBot,
): { readonly type: string } | undefined {
  if (type !== 'events_api') return undefined;
  const { data } = body.safeParse(value);
  const installed = data?.authorizations ?? [];
  const isOthers = installed.every((one) => one.is_bot === true && one.user_id !== bot.user);
  return installed.length > 0 && isOthers ? undefined : data?.event;
}

export function revokesAccess(envelope: SlackEnvelope): boolean {
  return ACCESS_REVOKED.has(body.safeParse(envelope.body).data?.event.type ?? '');
}
