/**
 * What other areas may use: the port to providers and its types, which files are text, and estimates and metrics of
 * calls.
 */
export {
  addUsage,
  BYTES_PER_TOKEN,
  chargedUsage,
  estimatedTokens,
  type ModelOutput,
  messageTokens,
  TOKENS_PER_IMAGE,
  TOKENS_PER_MESSAGE,
} from './estimated-usage.js';
export { ModelCallMetrics, usageAttributes } from './model-call-metrics.js';
export {
  agentOptions,
  agentSampling,
  type ModelCandidate,
  type ModelChain,
  ModelChains,
} from './model-chains.js';
export { coolingModels } from './model-cooldowns.sql.js';
export { type FailureContext, type ModelFailure, ModelHealth, mayPassOn } from './model-health.service.js';
export { type ModelName, modelLabel, providerNames } from './model-names.js';
export type {
  ContentPart,
  FinishReason,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelToolResult,
  ModelUsage,
  ResponseFormat,
  SamplingOptions,
  ToolChoice,
} from './model-provider.port.js';
export { canBeShown, isTextType } from './providers/protocol/attachment-text.js';
