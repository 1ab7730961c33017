import type { ChannelSettings } from '../../../platform/settings/sections/channels.section.js';
import type { InboundMessage } from '../channel-adapter.port.js';

const EVERYBODY = '*';

/** Whether a message is accepted. Rejected ones are not stored; `not_allowed` leaves a log line. */
export type Admission = 'admitted' | 'not_allowed' | 'not_addressed';

type Rules = Pick<ChannelSettings, 'allowed_users' | 'mention_only'>;
type Arrived = Pick<InboundMessage, 'sender' | 'isGroup' | 'isAddressed'>;

/** Only listed users may write; in groups, `mention_only` requires that they address the bot. */
export function admissionOf({ sender, isGroup, isAddressed }: Arrived, rules: Rules): Admission {
  const { id, aliases } = sender;
  // Ids match exactly, names without regard to case.
  const names = new Set(aliases.map((alias) => alias.toLowerCase()));
  const isKnown = rules.allowed_users.some(
    (user) => user === EVERYBODY || user === id || names.has(user.toLowerCase()),
  );
  if (!isKnown) return 'not_allowed';
  return isGroup && rules.mention_only && !isAddressed ? 'not_addressed' : 'admitted';
}
