/** What others may use of tools: offer one, add to a prompt, run calls under the policy, answer an approval, check arguments. */
export {
  type PromptAddition,
  type PromptQuestion,
  type PromptSource,
  PromptSources,
} from './prompt-sources.js';
export { type ArgumentCheck, ArgumentChecks } from './schemas/argument-checks.js';
export { schemaBoundsProblem } from './schemas/schema-bounds.js';
export { type ApprovalRecord, ToolApprovalRecords } from './tool-approval-records.js';
export { type ApprovalAnswer, type ApprovalVerdict, ToolApprovals } from './tool-approvals.port.js';
export type { ToolCallRecord, ToolCallStatus } from './tool-call.js';
export { type AnsweredCall, ToolCallRunner } from './tool-call-runner.js';
export { ToolCatalog, type ToolContext, type ToolOutput } from './tool-catalog.port.js';
export { safeToolName } from './tool-names.js';
export { ToolPolicy } from './tool-policy.js';
export { type RegisteredTool, ToolRegistry } from './tool-registry.js';
export type { ToolEvent } from './tool-turn.js';
