import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { Open } from '../guards/access.decorator.js';
import type { ProfileId } from '../profiles/profile.js';
import { LANDING_PAGE_POLICY, LandingPages } from './landing-page.js';

/** `GET /` leads browsers to the documents. Needs no token, because it says no more than the documents do. */
@Controller({ path: '', version: ['a', 'b'] })
@Open()
export class LandingPageController {
  constructor(private readonly landingPages: LandingPages) {}

  @Get()
  show(@Req() request: GatewayRequest, @Res() response: Response): void {
    const profile = request.profile as ProfileId;
    response.vary('Accept').setHeader('Content-Security-Policy', LANDING_PAGE_POLICY);
    const json = () => response.json(this.landingPages.of(profile));
    response.format({ json, html: () => response.send(this.landingPages.page(profile)), default: json });
  }
}
