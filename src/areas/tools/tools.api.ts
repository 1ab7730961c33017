/** What others may use of tools: offer one, add to a prompt, run calls under the policy, answer an approval or a question, check arguments. */
export {
  type PromptAddition,
  type PromptQuestion,
  type PromptSource,
  PromptSources,
  type PromptWait,
} from './prompt-sources.js';
export {
  contentProblem,
  formOf,
  withFallbacks,
} from './questions/question-form.js';
export {
  QUESTION_ACTIONS,
  QUESTION_STATUSES,
  type QuestionAnswer,
  type QuestionOutcome,
  type QuestionRecord,
  type QuestionStatus,
  type ToolQuestion,
} from './questions/tool-question.js';
export { ToolQuestions } from './questions/tool-questions.js';
export { type ArgumentCheck, ArgumentChecks } from './schemas/argument-checks.js';
export { schemaBoundsProblem } from './schemas/schema-bounds.js';
export { type ApprovalRecord, type SeenApprovals, ToolApprovalRecords } from './tool-approval-records.js';
export {
  type ApprovalAnswer,
  type ApprovalVerdict,
  type Asker,
  ToolApprovals,
  type TurnPause,
} from './tool-approvals.port.js';
export type { ToolCallRecord, ToolCallStatus } from './tool-call.js';
export { type AnsweredCall, ToolCallRunner } from './tool-call-runner.js';
export {
  type CallTask,
  type ProducedFile,
  type RunningCall,
  ToolCatalog,
  type ToolContext,
  type ToolOutput,
  type ToolSampled,
  type ToolSampling,
} from './tool-catalog.port.js';
export { safeToolName } from './tool-names.js';
export { ToolPolicy } from './tool-policy.js';
export { type RegisteredTool, ToolRegistry } from './tool-registry.js';
export { type SourceState, ToolSources } from './tool-sources.js';
export type { ApprovalWaiting, ToolEvent } from './tool-turn.js';
