import type { OverrideEdit } from './stored-override.js';

/** Who changed the configuration: the holder of a token, or somebody at a command line. */
export interface ConfigActor {
  readonly name: string;
  /** Null for a command line. */
  readonly tokenId: string | null;
}

/** The same for a change that is asked for. */
export interface ConfigAuthor extends ConfigActor {
  /** Whether they may change keys that are marked `security`: who may do what. */
  readonly maySetSecurity: boolean;
}

export type ConfigAction = 'patch' | 'rollback' | 'reload';

/** What is about to be written down. For a reload the edits show what file and environment changed, and undo nothing. */
export interface NewConfigChange {
  readonly action: ConfigAction;
  readonly actor: ConfigActor;
  readonly edits: readonly OverrideEdit[];
}

/** One change of the past. Secrets in it are sealed, or redacted for a reload. */
export interface ConfigChange extends NewConfigChange {
  readonly revision: string;
  readonly changedAt: Date;
}
