import type { FurtherCheck } from '../../../http/validation/further-checks.js';
import type { SessionsService } from '../sessions.service.js';

/** The check of a request class that names a channel. */
export function channelCheck(sessions: SessionsService): FurtherCheck {
  return (sent, isFaulty) =>
    isFaulty('channel') ? [] : sessions.problemsOf({ channel: sent.channel as string | undefined });
}
