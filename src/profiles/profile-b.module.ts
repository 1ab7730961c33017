import { Module } from '@nestjs/common';
import { MessagesControllerB } from '../sessions/profile-b/messages.controller.js';
import { SessionsControllerB } from '../sessions/profile-b/sessions.controller.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { StatusControllerB } from '../status/profile-b/status.controller.js';
import { StatusModule } from '../status/status.module.js';

/** Profile B: its controllers in the order of the specification's table (4.2). */
@Module({
  imports: [SessionsModule, StatusModule],
  controllers: [SessionsControllerB, MessagesControllerB, StatusControllerB],
})
export class ProfileBModule {}
