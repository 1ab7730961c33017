import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { FailedSkill, Skill } from '../skill.js';
import { FailedSkillView, presentFailedSkills } from '../wire/failed-skill.view.js';

export class SkillItemViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ example: 'builtin' })
  source!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [String] })
  triggers!: string[];
}

export class SkillListViewB {
  @ApiProperty({ type: [SkillItemViewB] })
  skills!: SkillItemViewB[];

  @ApiPropertyOptional({
    type: [FailedSkillView],
    description: 'Skills that could not be loaded; present when there are any',
  })
  failed?: FailedSkillView[];
}

export function presentSkillListB(skills: readonly Skill[], failed: readonly FailedSkill[]): SkillListViewB {
  return {
    skills: skills.map(({ name, source, description, triggers }) => ({
      name,
      source,
      description,
      triggers: [...triggers],
    })),
    ...presentFailedSkills(failed),
  };
}
