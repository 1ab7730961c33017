import { Module } from '@nestjs/common';
import { IdentityModule } from '../../platform/identity/identity.module.js';
import { HooksModule } from '../hooks/hooks.module.js';
import { LiveModule } from '../live/live.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { AgentCards } from './agent-cards.service.js';
import { AgentTasks } from './agent-tasks.service.js';
import { TaskListStore } from './task-list.store.js';
import { TaskNotices, TaskPush } from './task-push.service.js';
import { A2aController, AgentCardController } from './wire/a2a.controller.js';
import { A2aHandlers } from './wire/a2a.handlers.js';

/** The face `a2a`: agents for other companies' agents. */
@Module({
  imports: [SessionsModule, TurnsModule, LiveModule, IdentityModule, HooksModule],
  controllers: [A2aController, AgentCardController],
  providers: [AgentCards, TaskListStore, TaskNotices, TaskPush, AgentTasks, A2aHandlers],
})
export class A2aModule {}
