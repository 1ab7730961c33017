import { Module } from '@nestjs/common';
import { ChannelReportsModule } from '../channels/channel-reports.module.js';
import { ChannelsControllerB } from '../channels/profile-b/channels.controller.js';
import { ConfigControllerB } from '../config/profile-b/config.controller.js';
import { HooksModule } from '../hooks/hooks.module.js';
import { HooksControllerB } from '../hooks/profile-b/hooks.controller.js';
import { HookRequestChecks } from '../hooks/wire/hook-request-checks.js';
import { LogsModule } from '../logs/logs.module.js';
import { LogsControllerB } from '../logs/profile-b/logs.controller.js';
import { McpModule } from '../mcp/mcp.module.js';
import { McpControllerB } from '../mcp/profile-b/mcp.controller.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { PluginsControllerB } from '../plugins/profile-b/plugins.controller.js';
import { MessagesControllerB } from '../sessions/profile-b/messages.controller.js';
import { SessionRequestChecksB } from '../sessions/profile-b/session-request-checks.js';
import { SessionsControllerB } from '../sessions/profile-b/sessions.controller.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { MessageRequestChecks } from '../sessions/wire/message-request-checks.js';
import { SkillsControllerB } from '../skills/profile-b/skills.controller.js';
import { SkillsModule } from '../skills/skills.module.js';
import { StatusControllerB } from '../status/profile-b/status.controller.js';
import { StatusModule } from '../status/status.module.js';

/** Profile B: its controllers in the order of the specification's table (4.2). */
@Module({
  imports: [
    SessionsModule,
    ChannelReportsModule,
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
