import { Get } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import type { FailedSkill, Skill } from '../skill.js';
import { Skills } from '../skills.service.js';
import { FailedSkillView, presentFailedSkills } from '../wire/failed-skill.view.js';

class SkillItemViewA {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [String] })
  tools_required!: string[];
}

class SkillListViewA {
  @ApiProperty({ type: [SkillItemViewA] })
  skills!: SkillItemViewA[];

  @ApiPropertyOptional({
    type: [FailedSkillView],
    description: 'Skills that could not be loaded; present when there are any',
  })
  failed?: FailedSkillView[];
}

function presentSkillListA(skills: readonly Skill[], failed: readonly FailedSkill[]): SkillListViewA {
  return {
    skills: skills.map(({ name, description, toolsRequired }) => ({
      name,
      description,
      tools_required: [...toolsRequired],
    })),
    ...presentFailedSkills(failed),
  };
}

/** Skills in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('skills')
export class SkillsControllerA {
  constructor(private readonly skills: Skills) {}

  @Get()
  @Does('List skills')
  @RequireScope('skills:read')
  @Answers(200, 'All skills', SkillListViewA)
  list(): SkillListViewA {
    return presentSkillListA(this.skills.list(), this.skills.failed());
  }
}
