import { Module } from '@nestjs/common';
import { A2aModule } from './areas/a2a/a2a.module.js';
import { AgentsController } from './areas/agents/admin/agents.controller.js';
import { AgentsModule } from './areas/agents/agents.module.js';
import { AuditController } from './areas/audit/admin/audit.controller.js';
import { AuditAreaModule } from './areas/audit/audit.module.js';
import { AdminChannelsController } from './areas/channels/admin/channels.controller.js';
import { ChannelsModule } from './areas/channels/channels.module.js';
import { ChannelsControllerA } from './areas/channels/profile-a/channels.controller.js';
import { ChannelsControllerB } from './areas/channels/profile-b/channels.controller.js';
import { INBOUND_MODELS, inbound } from './areas/channels/wire/inbound.messages.js';
import { ConfigHistoryController } from './areas/config/admin/config-history.controller.js';
import { ConfigControllerA } from './areas/config/profile-a/config.controller.js';
import { ConfigControllerB } from './areas/config/profile-b/config.controller.js';
import { ConfigController } from './areas/config/wire/config.controller.js';
import { AdminHooksController, DeliveriesController } from './areas/hooks/admin/deliveries.controller.js';
import { HooksModule } from './areas/hooks/hooks.module.js';
import { deliveries } from './areas/hooks/wire/delivery.streams.js';
import { HookRequestChecks } from './areas/hooks/wire/hook.requests.js';
import { HooksController } from './areas/hooks/wire/hooks.controller.js';
import { LogsModule } from './areas/logs/logs.module.js';
import { LogsControllerA } from './areas/logs/profile-a/logs.controller.js';
import { logStream } from './areas/logs/profile-b/log.views.js';
import { LogsControllerB } from './areas/logs/profile-b/logs.controller.js';
import { AdminMcpController } from './areas/mcp/admin/mcp.controller.js';
import { McpModule } from './areas/mcp/mcp.module.js';
import { McpControllerA } from './areas/mcp/profile-a/mcp.controller.js';
import { McpControllerB } from './areas/mcp/profile-b/mcp.controller.js';
import { ToolServerSignInController } from './areas/mcp/sign-in/sign-in.controller.js';
import { McpServerModule } from './areas/mcp-server/mcp-server.module.js';
import { OpenAiModule } from './areas/openai/openai.module.js';
import { OpenAiFaceController } from './areas/openai/wire/openai.controller.js';
import { PluginsModule } from './areas/plugins/plugins.module.js';
import { PluginsControllerA } from './areas/plugins/profile-a/plugins.controller.js';
import { PluginsControllerB } from './areas/plugins/profile-b/plugins.controller.js';
import { PrivacyModule } from './areas/privacy/privacy.module.js';
import { ApprovalsController } from './areas/sessions/admin/approvals.controller.js';
import { QuestionsController } from './areas/sessions/admin/questions.controller.js';
import { AdminSessionsController } from './areas/sessions/admin/sessions.controller.js';
import { SessionRequestChecksA } from './areas/sessions/profile-a/session.requests.js';
import { SessionsControllerA } from './areas/sessions/profile-a/sessions.controller.js';
import { SessionRequestChecksB } from './areas/sessions/profile-b/session.requests.js';
import { SessionsControllerB } from './areas/sessions/profile-b/sessions.controller.js';
import { SessionsModule } from './areas/sessions/sessions.module.js';
import { MessageRequestChecks } from './areas/sessions/wire/message.requests.js';
import { MessagesController } from './areas/sessions/wire/messages.controller.js';
import { sessionSocket, turnStream } from './areas/sessions/wire/session.streams.js';
import { ToolAnswerRequest, ToolApprovalRequest } from './areas/sessions/wire/socket/client-frame.js';
import { SkillsControllerA } from './areas/skills/profile-a/skills.controller.js';
import { SkillsControllerB } from './areas/skills/profile-b/skills.controller.js';
import { SkillsModule } from './areas/skills/skills.module.js';
import { OverviewController } from './areas/status/admin/overview.controller.js';
import { MetricsControllerA, StatusControllerA } from './areas/status/profile-a/status.controller.js';
import { StatusControllerB } from './areas/status/profile-b/status.controller.js';
import { StatusModule } from './areas/status/status.module.js';
import { MeController } from './areas/tokens/admin/me.controller.js';
import { SignInController } from './areas/tokens/admin/sign-in.controller.js';
import { TokensController } from './areas/tokens/admin/tokens.controller.js';
import { TokenAdminModule } from './areas/tokens/tokens.module.js';
import { AdminTurnsController } from './areas/turns/admin/turns.controller.js';
import { TurnsModule } from './areas/turns/turns.module.js';
import { UsageController } from './areas/usage/admin/usage.controller.js';
import { UsageModule } from './areas/usage/usage.module.js';
import { ConsoleModule } from './http/console/console.module.js';
import type { DescribedApi } from './http/openapi/described-api.js';
import { servedIn } from './http/profiles/profile.js';
import { type ServedModules } from './http/profiles/profile.module.js';

const AREAS = [
  SessionsModule,
  ChannelsModule,
  HooksModule,
  McpModule,
  PluginsModule,
  SkillsModule,
  StatusModule,
  LogsModule,
  PrivacyModule,
];

/** Profile A: its controllers in the order of the table in docs/specification/api.md, 4.1. */
@Module({
  imports: AREAS,
  providers: [SessionRequestChecksA, MessageRequestChecks, HookRequestChecks],
  controllers: [
    SessionsControllerA,
    servedIn('a', MessagesController),
    ChannelsControllerA,
    servedIn('a', HooksController),
    McpControllerA,
    PluginsControllerA,
    SkillsControllerA,
    StatusControllerA,
    MetricsControllerA,
    servedIn('a', ConfigController),
    ConfigControllerA,
    LogsControllerA,
  ],
})
class ProfileAModule {}

/** Profile B: its controllers in the order of the table in docs/specification/api.md, 4.2. */
@Module({
  imports: AREAS,
  providers: [SessionRequestChecksB, MessageRequestChecks, HookRequestChecks],
  controllers: [
    SessionsControllerB,
    servedIn('b', MessagesController),
    ChannelsControllerB,
    servedIn('b', HooksController),
    McpControllerB,
    PluginsControllerB,
    SkillsControllerB,
    StatusControllerB,
    servedIn('b', ConfigController),
    ConfigControllerB,
    LogsControllerB,
  ],
})
class ProfileBModule {}

/** The operators' API, on the ports of both profiles: its controllers in the order of their paths. */
@Module({
  imports: [...AREAS, AgentsModule, AuditAreaModule, TokenAdminModule, TurnsModule, UsageModule],
  controllers: [
    AgentsController,
    ApprovalsController,
    AuditController,
    AdminChannelsController,
    ConfigHistoryController,
    DeliveriesController,
    AdminHooksController,
    AdminMcpController,
    OverviewController,
    QuestionsController,
    SignInController,
    ToolServerSignInController,
    MeController,
    AdminSessionsController,
    TokensController,
    AdminTurnsController,
    UsageController,
  ],
})
class AdminModule {}

/** What clients of OpenAI's API find, on the ports of both profiles. */
@Module({ imports: [OpenAiModule], controllers: [OpenAiFaceController] })
class OpenAiFaceModule {}

export const PROFILE_MODULES = {
  a: ProfileAModule,
  b: ProfileBModule,
  admin: AdminModule,
  mcp: McpServerModule,
  a2a: A2aModule,
  console: ConsoleModule,
  openai: OpenAiFaceModule,
} as const satisfies ServedModules;

/** What the API documents describe, in document order. */
export const DESCRIBED_API: DescribedApi = {
  modules: PROFILE_MODULES,
  asyncModels: [ToolApprovalRequest, ToolAnswerRequest, ...INBOUND_MODELS],
  asyncChannels: (profile, schemas) => ({
    sessionSocket: sessionSocket(schemas),
    turnEvents: turnStream(),
    ...(profile === 'b' ? { logEvents: logStream() } : {}),
    deliveries: deliveries(),
    inbound: inbound(),
  }),
};
