import { All, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Open } from '../edge/access.decorator.js';
import { NotFound } from '../errors/gateway-error.js';
import { OperationsController } from '../profiles/profile.js';
import { ReadinessReport } from './readiness-report.js';

/** The probes of Kubernetes, on the operations port. */
@OperationsController()
@Open()
export class ProbesController {
  constructor(private readonly readiness: ReadinessReport) {}

  /** The event loop turns: whoever gets an answer needs no restart. */
  @Get('livez')
  livez(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  async readyz(@Res() response: Response): Promise<void> {
    const { status, body } = await this.readiness.make();
    response.status(status).json(body);
  }

  @All('*path')
  unknown(): never {
    throw new NotFound('The operations port answers /livez, /readyz and /metrics.');
  }
}
