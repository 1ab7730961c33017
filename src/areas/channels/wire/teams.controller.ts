import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Post,
  Req,
  UseGuards,
} from '@nestjs/common';
import type { Response } from 'express';
import { BodyRoom } from '../../../http/body/body-room.js';
import { readJsonBytes } from '../../../http/body/json-body.guard.js';
import { readJsonObject } from '../../../http/body/json-bytes.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { Open } from '../../../http/guards/access.decorator.js';
import { Settings } from '../../../platform/settings/settings.js';
import { TeamsInbound, type VerifiedConnector } from '../adapters/teams/teams-inbound.service.js';

/** A request whose token was verified. */
export interface ConnectorRequest extends GatewayRequest {
  connector: VerifiedConnector;
}

/** Checks the connector's token, which replaces one of the gateway; the body is read only afterwards. */
@Injectable()
class ConnectorGuard implements CanActivate {
  constructor(
    private readonly inbound: TeamsInbound,
    private readonly settings: Settings,
    private readonly room: BodyRoom,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<ConnectorRequest>();
    const channel = String(request.params['channel']);
    request.connector = await this.inbound.verify(channel, request.header('authorization'));
    const maxBytes = this.settings.current.gateway.max_body_bytes;
    const held = this.room.enter(`connector of ${channel}`);
    try {
      request.body = await readJsonObject(
        await readJsonBytes(request, http.getResponse<Response>(), { maxBytes, held }),
      );
    } finally {
      held.release();
    }
    return true;
  }
}

/** Microsoft's connector posts what people write and click in Teams here, on the ports of both profiles. */
@Controller({ path: 'inbound', version: ['a', 'b'] })
export class TeamsController {
  constructor(private readonly inbound: TeamsInbound) {}

  @Post(':channel/messages')
  @HttpCode(200)
  @Open()
  @UseGuards(ConnectorGuard)
  receive(@Req() request: ConnectorRequest): Promise<object> {
    return this.inbound.receive(request.connector, request.body);
  }
}
