import { Module } from '@nestjs/common';
import { ChannelsModule } from './areas/channels/channels.module.js';
import { ChannelsControllerB } from './areas/channels/profile-b/channels.controller.js';
import { ConfigControllerB } from './areas/config/profile-b/config.controller.js';
import { HooksModule } from './areas/hooks/hooks.module.js';
import { HooksControllerB } from './areas/hooks/profile-b/hooks.controller.js';
import { HookRequestChecks } from './areas/hooks/wire/hook-request-checks.js';
import { LogsModule } from './areas/logs/logs.module.js';
import { LogsControllerB } from './areas/logs/profile-b/logs.controller.js';
import { McpModule } from './areas/mcp/mcp.module.js';
import { McpControllerB } from './areas/mcp/profile-b/mcp.controller.js';
import { PluginsModule } from './areas/plugins/plugins.module.js';
import { PluginsControllerB } from './areas/plugins/profile-b/plugins.controller.js';
import { MessagesControllerB } from './areas/sessions/profile-b/messages.controller.js';
import { SessionRequestChecksB } from './areas/sessions/profile-b/session-request-checks.js';
import { SessionsControllerB } from './areas/sessions/profile-b/sessions.controller.js';
import { SessionsModule } from './areas/sessions/sessions.module.js';
import { MessageRequestChecks } from './areas/sessions/wire/message-request-checks.js';
import { SkillsControllerB } from './areas/skills/profile-b/skills.controller.js';
import { SkillsModule } from './areas/skills/skills.module.js';
import { StatusControllerB } from './areas/status/profile-b/status.controller.js';
import { StatusModule } from './areas/status/status.module.js';

/** Profile B: its controllers in the order of the table in docs/specification/api.md, 4.2. */
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
  providers: [SessionRequestChecksB, MessageRequestChecks, HookRequestChecks],
  controllers: [
    SessionsControllerB,
    MessagesControllerB,
    ChannelsControllerB,
    HooksControllerB,
    McpControllerB,
    PluginsControllerB,
    SkillsControllerB,
    StatusControllerB,
    ConfigControllerB,
    LogsControllerB,
  ],
})
export class ProfileBModule {}
