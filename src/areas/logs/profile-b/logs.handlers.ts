import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import type { LogFilter } from '../../../platform/logging/log-entry.js';
import { Settings } from '../../../platform/settings/settings.js';
import { TokenDirectory } from '../../../platform/tokens/token-directory.js';
import { shareOfSlots } from '../../../platform/tokens/token-shares.js';
import { LogsService } from '../logs.service.js';
import { LogStreams, type StreamRequest } from '../stream/log-streams.service.js';
import type { ListLogsQueryB } from './log.requests.js';
import { presentLogListB } from './log.views.js';

/** The guard lets no one in without a token. */
const NOBODY = { tokenId: '', tokenName: '' };

/** GET /logs of Profile B is a list or a stream, as the query says. */
@Injectable()
export class LogsHandlersB {
  constructor(
    private readonly logs: LogsService,
    private readonly streams: LogStreams,
    private readonly tokens: TokenDirectory,
    private readonly settings: Settings,
  ) {}

  async answer(query: ListLogsQueryB, request: GatewayRequest, response: Response): Promise<void> {
    const { level: minLevel, module, since, limit, stream } = query;
    const filter = { minLevel, module };
    if (stream === 'true') await this.stream(filter, { since, limit }, request, response);
    else response.json(presentLogListB(await this.logs.list(filter, since, limit)));
  }

  async stream(
    filter: LogFilter,
    backlog: StreamRequest['backlog'],
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      response.type('text/event-stream').end();
      return;
    }
    const { caller = NOBODY } = request;
    const token = request.headers.authorization?.trim().split(' ').at(-1);
    await this.streams.open({
      response,
      filter,
      backlog,
      lastEventId: request.get('last-event-id') || undefined,
      mayRead: async () => (await this.tokens.find(token)) !== undefined,
      reader: {
        tokenId: caller.tokenId,
        share: (places) => shareOfSlots(this.settings.current.limits, caller, places),
      },
    });
  }
}
