import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { Open } from '../guards/access.decorator.js';
import { DocsPages } from './docs-pages.js';

/** The documents of the listener's profile, and Swagger UI for the OpenAPI one. They contain nothing that a token protects. */
@Controller({ path: '', version: ['a', 'b'] })
@Open()
export class DocsController {
  constructor(private readonly pages: DocsPages) {}

  @Get('openapi.json')
  document(@Req() request: GatewayRequest, @Res() response: Response): void {
    response.type('application/json').send(this.pages.document(request.profile, 'openapi'));
  }

  @Get('asyncapi.json')
  messages(@Req() request: GatewayRequest, @Res() response: Response): void {
    response.type('application/json').send(this.pages.document(request.profile, 'asyncapi'));
  }

  @Get('docs')
  page(@Res() response: Response): void {
    this.pages.sendPage(response);
  }

  @Get('docs/:asset')
  asset(@Param('asset') name: string, @Res() response: Response): void {
    this.pages.sendAsset(name, response);
  }
}
