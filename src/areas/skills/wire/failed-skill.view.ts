import { ApiProperty } from '@nestjs/swagger';
import type { FailedSkill } from '../skill.js';

export class FailedSkillView {
  @ApiProperty({ example: 'workspace/weekly-report', description: 'Its folder, or a whole folder of skills' })
  folder!: string;

  @ApiProperty({ example: 'it has no description', description: 'Why it could not be loaded' })
  error!: string;
}

/** The field `failed` of a list of skills; none when all are well. */
export function presentFailedSkills(failed: readonly FailedSkill[]): { failed?: FailedSkillView[] } {
  return failed.length === 0 ? {} : { failed: failed.map(({ folder, error }) => ({ folder, error })) };
}
