import { Module } from '@nestjs/common';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { ModelCallMetrics, modelCallMetricProviders } from '../models/model-call-metrics.js';
import { DatabaseToolApprovals } from '../tools/database-tool-approvals.js';
import { ArgumentChecks } from '../tools/schemas/argument-checks.js';
import { ToolApprovals } from '../tools/tool-approvals.port.js';
import { ToolCallLog, toolMetricProviders } from '../tools/tool-call-log.js';
import { ToolCallRunner } from '../tools/tool-call-runner.js';
import { ToolCatalog } from '../tools/tool-catalog.port.js';
import { ToolGate } from '../tools/tool-gate.js';
import { ToolPolicy } from '../tools/tool-policy.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { ToolRuleCheck } from '../tools/tool-rule-check.js';
import { PromptSources } from './prompt-sources.js';
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
    ToolCallLog,
    ArgumentChecks,
    ToolRegistry,
    PromptSources,
    { provide: ToolCatalog, useExisting: ToolRegistry },
    { provide: ToolApprovals, useClass: DatabaseToolApprovals },
  ],
  exports: [TurnRunner, ArgumentChecks, ToolRegistry, PromptSources, ToolApprovals, ToolPolicy],
})
export class AgentModule {}
