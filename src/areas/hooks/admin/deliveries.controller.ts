import { Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { TextFilter, WordFilter } from '../../../http/validation/filter.decorator.js';
import { Since } from '../../../http/validation/since.decorator.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../delivery.js';
import { DeliveryDirectory } from '../delivery-directory.service.js';
import {
  AdminHookPageView,
  DeliveryDetailView,
  DeliveryPageView,
  presentDeliveryDetail,
  presentDeliveryPage,
  presentHookPage,
  RedeliveryView,
} from './delivery.views.js';

class DeliveriesQuery extends PageQuery {
  @TextFilter('The id of the webhook')
  hook?: string;

  @WordFilter(DELIVERY_STATUSES)
  status?: DeliveryStatus;

  @Optional()
  @Since('without it, from the oldest on')
  since?: Date;
}

/** Webhooks (docs/specification/additions.md, Operators' API). */
@AdminController('hooks')
export class AdminHooksController {
  constructor(private readonly directory: DeliveryDirectory) {}

  @Get()
  @Does('List webhooks', 'Newest first, with how they do; secrets are never shown.')
  @AdminScope('hooks:read')
  @Answers(200, 'A page of webhooks, newest first', AdminHookPageView)
  async list(@Query() query: PageQuery, @CurrentCaller() caller: Caller): Promise<AdminHookPageView> {
    return presentHookPage(await this.directory.hooks(query, caller));
  }
}

/** Deliveries of webhooks. */
@AdminController('deliveries')
export class DeliveriesController {
  constructor(private readonly directory: DeliveryDirectory) {}

  @Get()
  @Does('List deliveries', 'Newest first, without what is delivered.')
  @AdminScope('hooks:read')
  @Answers(200, 'A page of deliveries, newest first', DeliveryPageView)
  async list(@Query() query: DeliveriesQuery, @CurrentCaller() caller: Caller): Promise<DeliveryPageView> {
    return presentDeliveryPage(await this.directory.list(query, caller));
  }

  @Get(':id')
  @Does('Show a delivery', 'With what is delivered, for tokens that may read what it is about.')
  @AdminScope('hooks:read')
  @Answers(200, 'The delivery', DeliveryDetailView)
  async find(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<DeliveryDetailView> {
    return presentDeliveryDetail(await this.directory.find(id, caller));
  }

  @Post(':id/redeliver')
  @Does('Send a delivery once more', 'The same bytes; a webhook that was given up becomes active again.')
  @HttpCode(200)
  @AdminScope('hooks:write')
  @Answers(200, 'It is sent again', RedeliveryView)
  redeliver(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<RedeliveryView> {
    return this.directory.redeliver(id, caller);
  }
}
