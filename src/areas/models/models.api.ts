/** What others may use of models: the port to providers with its words, which files are text, and estimates and metrics of calls. */
export {
  addUsage,
  BYTES_PER_TOKEN,
  chargedUsage,
  estimatedTokens,
  messageTokens,
  TOKENS_PER_IMAGE,
  TOKENS_PER_MESSAGE,
} from './estimated-usage.js';
export { ModelCallMetrics, usageAttributes } from './model-call-metrics.js';
export {
  type ContentPart,
  type FinishReason,
  type ModelEvent,
  type ModelMessage,
  ModelProvider,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  type ModelToolResult,
  type ModelUsage,
  type ResponseFormat,
  type SamplingOptions,
  type ToolChoice,
} from './model-provider.port.js';
export { isTextType } from './providers/wire/attachment-text.js';
