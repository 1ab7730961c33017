import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FurtherChecks } from '../../../http/validation/further-checks.js';
import { type HookInput, HooksService } from '../hooks.service.js';
import { RegisterHookRequest } from './hook.requests.js';

/** Reports unknown events, bad secrets and refused addresses together with the other problems of a registration. */
@Injectable()
export class HookRequestChecks implements OnModuleInit {
  constructor(
    private readonly checks: FurtherChecks,
    private readonly hooks: HooksService,
  ) {}

  onModuleInit(): void {
    this.checks.add(RegisterHookRequest, (sent, isFaulty) => {
      const { url, events, secret } = sent as Partial<HookInput>;
      return this.hooks.problemsOf({
        ...(url === undefined || isFaulty('url') ? {} : { url }),
        ...(events === undefined || isFaulty('events') ? {} : { events }),
        ...(isFaulty('secret') ? {} : { secret }),
      });
    });
  }
}
