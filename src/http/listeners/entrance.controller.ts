import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { Open } from '../guards/access.decorator.js';
import type { ProfileId } from '../profiles/profile.js';
import { ENTRANCE_POLICY, Entrances } from './entrance.js';

/** Where things are: whoever opens the address in a browser is led on. Open, because it says only what the documents say. */
@Controller({ path: '', version: ['a', 'b'] })
@Open()
export class EntranceController {
  constructor(private readonly entrances: Entrances) {}

  @Get()
  show(@Req() request: GatewayRequest, @Res() response: Response): void {
    const profile = request.profile as ProfileId;
    response.vary('Accept').setHeader('Content-Security-Policy', ENTRANCE_POLICY);
    const json = () => response.json(this.entrances.of(profile));
    response.format({ json, html: () => response.send(this.entrances.page(profile)), default: json });
  }
}
