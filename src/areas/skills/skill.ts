/** A skill that the agent can use (docs/skills.md). */
export interface Skill {
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** `builtin`, or `plugin:<name>`. */
  readonly source: string;
  readonly description: string;
  readonly triggers: readonly string[];
  readonly toolsRequired: readonly string[];
}

/** A skill with its instructions and its folder. */
export interface LoadedSkill extends Skill {
  readonly body: string;
  /** Absolute, without symbolic links. */
  readonly folder: string;
}

/** A skill that could not be loaded, or whose newest version could not. */
export interface FailedSkill {
  /** Its folder, such as `workspace/weekly-report`, or a whole folder of skills. */
  readonly folder: string;
  /** Why, as a sentence for people; redacted. */
  readonly error: string;
}

/** A skill cannot be loaded, or a file of it cannot be read. The message is one sentence without local paths. */
export class SkillProblem extends Error {
  override readonly name = 'SkillProblem';
}
