import { Body, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { OpenAiController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { ChatHandler } from './chat.handler.js';
import { InputItemsHandler, type InputItemsListView } from './input-items.handler.js';
import { type ModelListView, ModelsHandler, type ModelView } from './models.handler.js';
import { type DeletedResponseView, ResponsesHandler } from './responses.handler.js';

/** The endpoints of OpenAI's API (docs/openai.md). */
@OpenAiController('')
export class OpenAiFaceController {
  constructor(
    private readonly completions: ChatHandler,
    private readonly responses: ResponsesHandler,
    private readonly inputItems: InputItemsHandler,
    private readonly served: ModelsHandler,
  ) {}

  @Get('models')
  @RequireScope('sessions:read', 'sessions_read')
  models(@CurrentCaller() caller: Caller): ModelListView {
    return this.served.list(caller);
  }

  @Get('models/:model')
  @RequireScope('sessions:read', 'sessions_read')
  model(@Param('model') name: string, @CurrentCaller() caller: Caller): ModelView {
    return this.served.find(name, caller);
  }

  @Post('chat/completions')
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody('max_message_body_bytes')
  complete(
    @Body() body: unknown,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.completions.create(body, caller, key, request, response);
  }

  @Post('responses')
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody('max_message_body_bytes')
  respond(
    @Body() body: unknown,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.responses.create(body, caller, key, request, response);
  }

  @Get('responses/:id')
  @RequireScope('sessions:read', 'sessions_read')
  retrieve(
    @Param('id') id: string,
    @Query() query: unknown,
    @CurrentCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.responses.retrieve(id, query, caller, request, response);
  }

  @Get('responses/:id/input_items')
  @RequireScope('sessions:read', 'sessions_read')
  listInput(
    @Param('id') id: string,
    @Query() query: unknown,
    @CurrentCaller() caller: Caller,
  ): Promise<InputItemsListView> {
    return this.inputItems.list(id, query, caller);
  }

  @Post('responses/:id/cancel')
  @HttpCode(200)
  @RequireScope('sessions:write', 'sessions_write')
  cancel(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<object> {
    return this.responses.cancel(id, caller);
  }

  @Delete('responses/:id')
  @RequireScope('sessions:write', 'sessions_write')
  forget(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<DeletedResponseView> {
    return this.responses.forget(id, caller);
  }
}
