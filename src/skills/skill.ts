/** A skill that the agent may draw on. */
export interface Skill {
  readonly name: string;
  /** `builtin`, or `plugin:<name>`. */
  readonly source: string;
  readonly description: string;
  readonly triggers: readonly string[];
  readonly toolsRequired: readonly string[];
}
