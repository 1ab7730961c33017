import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FurtherChecks } from '../../../http/validation/further-checks.js';
import { SendMessageRequest } from './message.requests.js';
import { messageProblems } from './new-user-message.js';

/** Tells of what a message lacks together with what else is wrong with it. */
@Injectable()
export class MessageRequestChecks implements OnModuleInit {
  constructor(private readonly checks: FurtherChecks) {}

  onModuleInit(): void {
    this.checks.add(SendMessageRequest, messageProblems);
  }
}
