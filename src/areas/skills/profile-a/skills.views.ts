import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { FailedSkill, Skill } from '../skill.js';
import { FailedSkillView, presentFailedSkills } from '../wire/failed-skill.view.js';

export class SkillItemViewA {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [String] })
  tools_required!: string[];
}

export class SkillListViewA {
  @ApiProperty({ type: [SkillItemViewA] })
  skills!: SkillItemViewA[];

  @ApiPropertyOptional({
    type: [FailedSkillView],
    description: 'Skills that could not be loaded; present when there are any',
  })
  failed?: FailedSkillView[];
}

export function presentSkillListA(skills: readonly Skill[], failed: readonly FailedSkill[]): SkillListViewA {
  return {
    skills: skills.map(({ name, description, toolsRequired }) => ({
      name,
      description,
      tools_required: [...toolsRequired],
    })),
    ...presentFailedSkills(failed),
  };
}
