import type { ConfigChange } from '../areas/config/config-change.js';
import type { OverrideContent } from '../platform/settings/candidate-builder.js';
import { redactionMarker } from '../platform/settings/redaction.js';

const MAX_KEYS = 4;

/** A change as `config history --json` shows it; null where there is no override. */
export function changeJson(change: ConfigChange): Readonly<Record<string, unknown>> {
  const { revision, action, actor, changedAt, edits } = change;
  return {
    revision: Number(revision),
    changed_at: changedAt.toISOString(),
    action,
    actor: actor.name,
    token_id: actor.tokenId,
    keys: edits.map(({ key, before, after }) => ({ key, before: shown(before), after: shown(after) })),
  };
}

/** One line per change, for people: revision, time, action, actor and the first four keys. */
export function changeLine({ revision, action, actor, changedAt, edits }: ConfigChange): string {
  const keys = edits.map(({ key }) => key);
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  const when = changedAt.toISOString().slice(0, 19).replace('T', ' ');
  return `${revision.padStart(5)}  ${when}Z  ${action.padEnd(8)}  ${actor.name}: ${keys.slice(0, MAX_KEYS).join(', ')}${more}\n`;
}

function shown(content: OverrideContent | null): unknown {
  if (content === null) return null;
  return 'sealed' in content ? redactionMarker : content.value;
}
