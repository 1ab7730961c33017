import { Module } from '@nestjs/common';
import { MetricsControllerA } from '../metrics/profile-a/metrics.controller.js';
import { MessagesControllerA } from '../sessions/profile-a/messages.controller.js';
import { SessionsControllerA } from '../sessions/profile-a/sessions.controller.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { StatusControllerA } from '../status/profile-a/status.controller.js';
import { StatusModule } from '../status/status.module.js';

/** Profile A: its controllers in the order of the specification's table (4.1). */
@Module({
  imports: [SessionsModule, StatusModule],
  controllers: [SessionsControllerA, MessagesControllerA, StatusControllerA, MetricsControllerA],
})
export class ProfileAModule {}
