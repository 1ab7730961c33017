import { Module } from '@nestjs/common';
import { ChannelReportsModule } from '../channels/channel-reports.module.js';
import { ChannelsControllerA } from '../channels/profile-a/channels.controller.js';
import { ConfigControllerA } from '../config/profile-a/config.controller.js';
import { HooksModule } from '../hooks/hooks.module.js';
import { HooksControllerA } from '../hooks/profile-a/hooks.controller.js';
import { HookRequestChecks } from '../hooks/wire/hook-request-checks.js';
import { LogsModule } from '../logs/logs.module.js';
import { LogsControllerA } from '../logs/profile-a/logs.controller.js';
import { McpModule } from '../mcp/mcp.module.js';
import { McpControllerA } from '../mcp/profile-a/mcp.controller.js';
import { MetricsControllerA } from '../metrics/profile-a/metrics.controller.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { PluginsControllerA } from '../plugins/profile-a/plugins.controller.js';
import { MessagesControllerA } from '../sessions/profile-a/messages.controller.js';
import { SessionRequestChecksA } from '../sessions/profile-a/session-request-checks.js';
import { SessionsControllerA } from '../sessions/profile-a/sessions.controller.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { MessageRequestChecks } from '../sessions/wire/message-request-checks.js';
import { SkillsControllerA } from '../skills/profile-a/skills.controller.js';
import { SkillsModule } from '../skills/skills.module.js';
import { StatusControllerA } from '../status/profile-a/status.controller.js';
import { StatusModule } from '../status/status.module.js';

/** Profile A: its controllers in the order of the specification's table (4.1). */
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
