import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FurtherChecks } from '../../../http/validation/further-checks.js';
import { SessionsService } from '../sessions.service.js';
import { channelCheck } from '../wire/channel-check.js';
import { CreateSessionRequestB } from './session.requests.js';

/** Tells of an unknown channel together with what else is wrong with a new session. */
@Injectable()
export class SessionRequestChecksB implements OnModuleInit {
  constructor(
    private readonly checks: FurtherChecks,
    private readonly sessions: SessionsService,
  ) {}

  onModuleInit(): void {
    this.checks.add(CreateSessionRequestB, channelCheck(this.sessions));
  }
}
