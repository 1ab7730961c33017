import type { ChannelSettings } from '../../../platform/settings/sections/channels.section.js';
import type { InboundMessage } from '../channel-adapter.port.js';

const EVERYBODY = '*';

/** What is done with a message that arrived: `stranger` and `not_addressed` leave no trace but a line in the log. */
export type Admission = 'admitted' | 'stranger' | 'not_addressed';

type Rules = Pick<ChannelSettings, 'allowed_users' | 'mention_only'>;
type Arrived = Pick<InboundMessage, 'sender' | 'isGroup' | 'isAddressed'>;

/** Nobody may write unless the settings say who; in groups, maybe only to the bot itself. */
export function admissionOf({ sender, isGroup, isAddressed }: Arrived, rules: Rules): Admission {
  const { id, aliases } = sender;
  // Ids are exact; names are the same however they are written.
  const names = new Set(aliases.map((alias) => alias.toLowerCase()));
  const isKnown = rules.allowed_users.some(
    (user) => user === EVERYBODY || user === id || names.has(user.toLowerCase()),
  );
  if (!isKnown) return 'stranger';
  return isGroup && rules.mention_only && !isAddressed ? 'not_addressed' : 'admitted';
}
