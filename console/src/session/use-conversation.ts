import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { History } from '../api/types';
import { useSigned } from '../auth/auth';
import { useGet } from '../ui/queries';
import { NO_TURN } from './turn-events';
import { type Live, useLiveTurn } from './use-live-turn';

const HISTORY = 50;
const REFRESH_MS = 15_000;

/** A message that the gateway accepted. */
export interface SentMessage {
  readonly id: string;
  readonly content: string;
}

interface OpenConversation {
  readonly history: UseQueryResult<History>;
  readonly live: Live;
  /** What was sent from this page and is not in the history yet. */
  readonly sent: readonly SentMessage[];
  readonly addSent: (message: SentMessage) => void;
  readonly showEarlier: () => void;
}

/** The messages of a session, the running turn, and the messages that wait. */
export function useConversation(id: string): OpenConversation {
  const { api } = useSigned();
  const queries = useQueryClient();
  const [limit, setLimit] = useState(HISTORY);
  const [sent, setSent] = useState<readonly SentMessage[]>([]);
  const path = `/api/v1/sessions/${id}/messages`;
  const history = useGet<History>(path, { query: { limit }, refreshMs: REFRESH_MS });
  const refresh = useCallback(
    () =>
      Promise.all(
        [[path], [`/admin/v1/sessions/${id}`], ['/admin/v1/turns', 'pages']].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
    [queries, id, path],
  );
  const live = useLiveTurn({
    sessionId: id,
    token: api.token,
    onStart: () => void refresh(),
    onDone: () => void refresh().then(() => live.clear()),
  });
  const stored = new Set(history.data?.messages.map(({ message_id }) => message_id));
  const { answerId } = live.turn;
  // True once the history contains the answer, so that nothing is missing in between or shown twice.
  const isStored = answerId !== undefined && stored.has(answerId);
  return {
    history,
    live: isStored ? { ...live, turn: NO_TURN } : live,
    sent: sent.filter((message) => !stored.has(message.id)),
    addSent: (message) => setSent((before) => [...before, message]),
    showEarlier: () => setLimit((before) => before + HISTORY),
  };
}
