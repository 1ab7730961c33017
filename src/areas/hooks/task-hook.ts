import type { Caller } from '../../platform/tokens/caller.js';

/** Notifies somebody of a task: a webhook for one turn. Its secret stays in the store. */
export interface TaskHook {
  /** Its name among the hooks of the same task. */
  readonly configId: string;
  readonly url: string;
}

export interface NewTaskHook extends TaskHook {
  /** The credentials for the receiver, as its face reads them when it sends; sealed. */
  readonly secret: string | null;
}

export interface TaskHookTerms {
  /** The user message of the turn, which may not be stored yet. */
  readonly messageId: string;
  /** The turn, once there is one. */
  readonly turnId: string | undefined;
  readonly hook: NewTaskHook;
  /** It ends with their token. */
  readonly maker: Caller;
}

/** How long a hook is kept for a task that has not begun. */
const UNBEGUN = `interval '1 hour'`;

/**
 * Deletes hooks of tasks that are over, which have nothing left to send, and failed ones that are older than `:hours`;
 * at most `:most`.
 * @param which a condition on `h`
 */
export const removeToldHooks = (which: string): string => `
    WITH over AS (
      SELECT h.id FROM hooks AS h
      LEFT JOIN messages AS m ON m.id = h.message_id LEFT JOIN turns AS t ON t.id = m.turn_id
      WHERE ${which} AND (CASE WHEN t.id IS NULL THEN h.created_at < now() - ${UNBEGUN}
          ELSE t.status IN ('completed', 'cancelled', 'failed', 'interrupted') END)
        AND (NOT EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.hook_id = h.id AND d.status <> 'delivered')
          OR NOT h.active AND h.created_at < now() - make_interval(hours => :hours))
      ORDER BY h.id LIMIT :most FOR UPDATE OF h SKIP LOCKED
    ), lane AS (
      DELETE FROM hook_lanes USING over WHERE hook_id = over.id
    )
    DELETE FROM hooks USING over WHERE hooks.id = over.id RETURNING hooks.id`;
