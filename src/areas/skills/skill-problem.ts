/** Why a skill is not loaded or a file of it not read: one sentence for people, without paths of the machine. */
export class SkillProblem extends Error {
  override readonly name = 'SkillProblem';
}
