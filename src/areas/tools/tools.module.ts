import { Module } from '@nestjs/common';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { DatabaseToolApprovals } from './database-tool-approvals.js';
import { PromptSources } from './prompt-sources.js';
import { ToolQuestions } from './questions/tool-questions.js';
import { ArgumentChecks } from './schemas/argument-checks.js';
import { ToolApprovalRecords } from './tool-approval-records.js';
import { ToolApprovals } from './tool-approvals.port.js';
import { ToolCallLog, toolMetricProviders } from './tool-call-log.js';
import { ToolCallRunner } from './tool-call-runner.js';
import { ToolCatalog } from './tool-catalog.port.js';
import { ToolGate } from './tool-gate.js';
import { ToolPolicy } from './tool-policy.js';
import { ToolRegistry } from './tool-registry.js';
import { ToolRuleCheck } from './tool-rule-check.js';
import { ToolSources } from './tool-sources.js';
import { VerdictWatch } from './verdict-watch.js';

/** What a turn is given: the catalogue of tools with its policy and approvals, and what is added to its prompt. */
@Module({
  imports: [TokensModule],
  providers: [
    ToolCallRunner,
    ToolPolicy,
    ToolRuleCheck,
    ToolGate,
    ...toolMetricProviders,
    ToolCallLog,
    ArgumentChecks,
    ToolRegistry,
    PromptSources,
    ToolSources,
    { provide: ToolCatalog, useExisting: ToolRegistry },
    ToolApprovalRecords,
    ToolQuestions,
    VerdictWatch,
    { provide: ToolApprovals, useClass: DatabaseToolApprovals },
  ],
  exports: [
    ToolSources,
    ToolCallRunner,
    ToolCatalog,
    ArgumentChecks,
    ToolRegistry,
    PromptSources,
    ToolApprovalRecords,
    ToolQuestions,
    ToolApprovals,
    ToolPolicy,
  ],
})
export class ToolsModule {}
