import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Open, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import { StatusService } from '../status.service.js';
import { AnswersNotReady } from '../wire/answers-not-ready.decorator.js';
import { HealthViewA, InfoViewA, presentHealthA, presentInfoA } from './status.views.js';

/** Health and information in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('')
export class StatusControllerA {
  constructor(private readonly status: StatusService) {}

  @Get('health')
  @Does('Check the health', 'For probes.')
  @Open()
  @Answers(200, 'The gateway is ready', HealthViewA)
  @AnswersNotReady(HealthViewA)
  async health(@Res() response: Response): Promise<void> {
    const health = await this.status.health();
    response.status(health.ready ? 200 : 503).json(presentHealthA(health));
  }

  @Get('info')
  @Does('Describe what runs here')
  @RequireScope('status:read')
  @Answers(200, 'What runs here', InfoViewA)
  async info(): Promise<InfoViewA> {
    return presentInfoA(await this.status.info());
  }
}
