import type { OverrideContent, OverrideEdit } from '../../platform/settings/candidate-builder.js';
import { redactionMarker } from '../../platform/settings/redaction.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants } from '../../platform/tokens/scopes.js';

/** Who changed the configuration: the holder of a token, or a person at the command line. */
export interface ConfigActor {
  readonly name: string;
  /** Null at the command line. */
  readonly tokenId: string | null;
}

/** Who asks for a change. */
export interface ConfigAuthor extends ConfigActor {
  /** Whether they may change keys marked `security`. */
  readonly maySetSecurity: boolean;
}

export type ConfigAction = 'patch' | 'rollback' | 'reload';

/** A change to be recorded. The edits of a reload show what file and environment changed; a rollback skips them. */
export interface NewConfigChange {
  readonly action: ConfigAction;
  readonly actor: ConfigActor;
  readonly edits: readonly OverrideEdit[];
}

/** A recorded change. Its secrets are sealed; those of a reload are redacted. */
export interface ConfigChange extends NewConfigChange {
  readonly revision: string;
  readonly changedAt: Date;
}

/** What an edit holds, as it may be shown; null where there is no override. */
export function shownContent(content: OverrideContent | null): unknown {
  if (content === null) return null;
  return 'sealed' in content ? redactionMarker : content.value;
}

export function authorOf({ tokenId, tokenName, scopes }: Caller): ConfigAuthor {
  return { tokenId, name: tokenName, maySetSecurity: grants(scopes, 'security:write') };
}
