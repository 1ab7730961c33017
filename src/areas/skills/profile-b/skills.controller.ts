import { Get } from '@nestjs/common';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { Skills } from '../skills.service.js';
import { presentSkillListB, SkillListViewB } from './skills.views.js';

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
