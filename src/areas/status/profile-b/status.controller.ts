import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Open, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { StatusService } from '../status.service.js';
import { AnswersNotReady } from '../wire/answers-not-ready.decorator.js';
import { LightHealthViewB, presentLightHealthB, presentStatusB, StatusViewB } from './status.views.js';

/** Status and health in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('status')
export class StatusControllerB {
  constructor(private readonly status: StatusService) {}

  @Get()
  @Does('Describe what runs here')
  @RequireScope('status:read')
  @Answers(200, 'What runs here', StatusViewB)
  async detail(): Promise<StatusViewB> {
    return presentStatusB(await this.status.info());
  }

  @Get('health')
  @Does('Check the health', 'For probes of load balancers.')
  @Open()
  @Answers(200, 'The gateway is ready', LightHealthViewB)
  @AnswersNotReady(LightHealthViewB)
  async health(@Res() response: Response): Promise<void> {
    const health = await this.status.health();
    response.status(health.ready ? 200 : 503).json(presentLightHealthB(health));
  }
}
