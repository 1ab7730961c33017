import { Get } from '@nestjs/common';
import { RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { Skills } from '../skills.service.js';
import { presentSkillListA, SkillListViewA } from './skills.views.js';

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
