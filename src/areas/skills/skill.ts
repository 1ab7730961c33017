/** A skill that the agent may draw on. */
export interface Skill {
  /** Small letters, digits and hyphens. */
  readonly name: string;
  /** `builtin`, or `plugin:<name>`. */
  readonly source: string;
  readonly description: string;
  readonly triggers: readonly string[];
  readonly toolsRequired: readonly string[];
}

/** A skill with what it tells the model, and where it lies. */
export interface LoadedSkill extends Skill {
  readonly body: string;
  /** Absolute and without symbolic links. */
  readonly folder: string;
}

/** A skill that could not be loaded, or not in its newest version. */
export interface FailedSkill {
  /** Its folder, such as `workspace/weekly-report`; or a whole folder of skills. */
  readonly folder: string;
  /** Why, for people; redacted. */
  readonly error: string;
}
