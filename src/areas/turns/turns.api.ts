/** What others may use of turns: submit a message, follow its turn, cancel it, read what was said. */
export { AcceptedTurns } from './accepted/accepted-turns.service.js';
export {
  AttachmentFetcher,
  BadAttachment,
  MAX_ATTACHED_BYTES,
  MAX_ATTACHMENTS,
} from './attachments/attachment-fetcher.js';
export { type CallerOutput, storeOutputs, takeBackOutputs } from './callers/caller-outputs.js';
export { type EarlierMessage, EarlierMessages, forgetEarlier } from './callers/earlier-messages.js';
export { SESSION_SPENT } from './limits/spending.sql.js';
export { TokenLimits } from './limits/token-limits.js';
export { TurnLimitReached } from './limits/turn-limit-reached.js';
export { TurnSlots } from './limits/turn-slots.js';
export {
  isLast,
  LAST_STEP,
  type LiveEvent,
  LiveTurn,
  positionInAttempt,
  positionNumber,
  TURN_START,
  type TurnPosition,
  type TurnReader,
} from './live-turn.js';
export { LostTurns } from './lost/lost-turns.service.js';
export { wakeParked } from './lost/lost-turns.sql.js';
export type {
  AttachmentInfo,
  AttachmentType,
  HistoryPage,
  Message,
  MessageRole,
  NewAttachment,
  NewUserMessage,
  RemoteAttachment,
  SentMessage,
} from './message.js';
export { MessageStore } from './message.store.js';
export { type MessageOptions, MessageOptionsCheck } from './message-options.js';
export { MESSAGE_COLUMNS, MESSAGE_ROW, type MessageRow, toMessage } from './message-row.js';
export { ModelProbe } from './model-probe.service.js';
export { ANY_FRAMES, WATCHED_SECS } from './relay/remote-turns.sql.js';
export { type ReadFrame, type RemoteTurn, RemoteTurnsStore } from './relay/remote-turns.store.js';
export { readEvents } from './relay/turn-relayed.js';
export { lastFrameBefore } from './relay/turn-relays.service.js';
export { RunningTurns } from './running-turns.js';
export { toolContext } from './tool-context.js';
export { type SessionTurns, TurnDirectory } from './turn-directory.service.js';
export { ANY_LOST } from './turn-end.sql.js';
export { TurnEndingsStore } from './turn-endings.store.js';
export { type FileHead, type TurnFile, TurnFiles } from './turn-files.js';
export { type SessionWatcher, TurnHub } from './turn-hub.js';
export { INTERRUPTED_NOTE, type TurnFailure } from './turn-lease.js';
export { TurnLeases } from './turn-leases.store.js';
export { TurnQueue } from './turn-queue.service.js';
export { type TurnResult, TurnResults } from './turn-results.store.js';
export { type TurnBucket, TurnSeries } from './turn-series.js';
export { ANY_QUEUE_EXPIRED } from './turn-start.sql.js';
export { TurnStarter } from './turn-starter.service.js';
export type { TurnStatus } from './turn-status.js';
export {
  AgentGone,
  SessionEnded,
  SessionNotFound,
  TurnAwaitsApproval,
  TurnCancelled,
  TurnHandedOver,
  TurnInProgress,
  TurnInterrupted,
  TurnNotRepeated,
  TurnStopped,
  TurnUnanswered,
} from './turns.errors.js';
export type { StartedTurn } from './turns.service.js';
export {
  type UnstoredTurn,
  UnstoredTurns,
} from './unstored/unstored-turns.service.js';
