import { Get } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import type { FailedSkill, Skill } from '../skill.js';
import { Skills } from '../skills.service.js';
import { FailedSkillView, presentFailedSkills } from '../wire/failed-skill.view.js';

class SkillItemViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ example: 'builtin' })
  source!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [String] })
  triggers!: string[];
}

class SkillListViewB {
  @ApiProperty({ type: [SkillItemViewB] })
  skills!: SkillItemViewB[];

  @ApiPropertyOptional({
    type: [FailedSkillView],
    description: 'Skills that could not be loaded; present when there are any',
  })
  failed?: FailedSkillView[];
}

function presentSkillListB(skills: readonly Skill[], failed: readonly FailedSkill[]): SkillListViewB {
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

/** Skills in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('skills')
export class SkillsControllerB {
  constructor(private readonly skills: Skills) {}

  @Get()
  @Does('List skills')
  @RequireScope('skills:read')
  @Answers(200, 'All skills', SkillListViewB)
  list(): SkillListViewB {
    return presentSkillListB(this.skills.list(), this.skills.failed());
  }
}
