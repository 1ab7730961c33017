import { Module } from '@nestjs/common';
import { ChannelsModule } from './areas/channels/channels.module.js';
import { ChannelsControllerA } from './areas/channels/profile-a/channels.controller.js';
import { ConfigControllerA } from './areas/config/profile-a/config.controller.js';
import { HooksModule } from './areas/hooks/hooks.module.js';
import { HooksControllerA } from './areas/hooks/profile-a/hooks.controller.js';
import { HookRequestChecks } from './areas/hooks/wire/hook-request-checks.js';
import { LogsModule } from './areas/logs/logs.module.js';
import { LogsControllerA } from './areas/logs/profile-a/logs.controller.js';
import { McpModule } from './areas/mcp/mcp.module.js';
import { McpControllerA } from './areas/mcp/profile-a/mcp.controller.js';
import { PluginsModule } from './areas/plugins/plugins.module.js';
import { PluginsControllerA } from './areas/plugins/profile-a/plugins.controller.js';
import { MessagesControllerA } from './areas/sessions/profile-a/messages.controller.js';
import { SessionRequestChecksA } from './areas/sessions/profile-a/session-request-checks.js';
import { SessionsControllerA } from './areas/sessions/profile-a/sessions.controller.js';
import { SessionsModule } from './areas/sessions/sessions.module.js';
import { MessageRequestChecks } from './areas/sessions/wire/message-request-checks.js';
import { SkillsControllerA } from './areas/skills/profile-a/skills.controller.js';
import { SkillsModule } from './areas/skills/skills.module.js';
import { MetricsControllerA } from './areas/status/profile-a/metrics.controller.js';
import { StatusControllerA } from './areas/status/profile-a/status.controller.js';
import { StatusModule } from './areas/status/status.module.js';

/** Profile A: its controllers in the order of the table in docs/specification/api.md, 4.1. */
@Module({
  imports: [
    SessionsModule,
    ChannelsModule,
    HooksModule,
    McpModule,
    PluginsModule,
    SkillsModule,
    StatusModule,
    LogsModule,
  ],
  providers: [SessionRequestChecksA, MessageRequestChecks, HookRequestChecks],
  controllers: [
    SessionsControllerA,
    MessagesControllerA,
    ChannelsControllerA,
    HooksControllerA,
    McpControllerA,
    PluginsControllerA,
    SkillsControllerA,
    StatusControllerA,
    MetricsControllerA,
    ConfigControllerA,
    LogsControllerA,
  ],
})
export class ProfileAModule {}
