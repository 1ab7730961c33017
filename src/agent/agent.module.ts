import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module.js';
import { DatabaseToolApprovals } from './database-tool-approvals.js';
import { ModelCallMetrics, modelCallMetricProviders } from './model-call-metrics.js';
import { PromptSources } from './prompt-sources.js';
import { ArgumentChecks } from './schemas/argument-checks.js';
import { ToolApprovals } from './tool-approvals.port.js';
import { ToolCallRunner } from './tool-call-runner.js';
import { ToolCatalog } from './tool-catalog.port.js';
import { ToolGate } from './tool-gate.js';
import { ToolJournal, toolMetricProviders } from './tool-journal.js';
import { ToolPolicy } from './tool-policy.js';
import { ToolRegistry } from './tool-registry.js';
import { ToolRuleCheck } from './tool-rule-check.js';
import { TurnRunner } from './turn-runner.js';

/** The agent's loop and its tools. The model provider comes from outside: it is chosen at the start. */
@Module({
  imports: [TokensModule],
  providers: [
    TurnRunner,
    ...modelCallMetricProviders,
    ModelCallMetrics,
    ToolCallRunner,
    ToolPolicy,
    ToolRuleCheck,
    ToolGate,
    ...toolMetricProviders,
    ToolJournal,
    ArgumentChecks,
    ToolRegistry,
    PromptSources,
    { provide: ToolCatalog, useExisting: ToolRegistry },
    { provide: ToolApprovals, useClass: DatabaseToolApprovals },
  ],
  exports: [TurnRunner, ArgumentChecks, ToolRegistry, PromptSources, ToolApprovals, ToolPolicy],
})
export class AgentModule {}
