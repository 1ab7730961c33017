import { CreateTokens1763700000000 } from './migrations/1763700000000-create-tokens.js';
import { CreateSessions1763700001000 } from './migrations/1763700001000-create-sessions.js';
import { CreateMessages1763700002000 } from './migrations/1763700002000-create-messages.js';
import { CreateConfigOverrides1763700003000 } from './migrations/1763700003000-create-config-overrides.js';
import { CreateLogs1763700004000 } from './migrations/1763700004000-create-logs.js';
import { CreateHooks1763700005000 } from './migrations/1763700005000-create-hooks.js';
import { CreateEvents1763700006000 } from './migrations/1763700006000-create-events.js';
import { CreateChannelStates1763700007000 } from './migrations/1763700007000-create-channel-states.js';
import { CreateToolRecords1763700008000 } from './migrations/1763700008000-create-tool-records.js';
import { CutTurnsOff1763700009000 } from './migrations/1763700009000-cut-turns-off.js';
import { CreateIdempotencyKeys1763700010000 } from './migrations/1763700010000-create-idempotency-keys.js';
import { CreateTokenSpending1763700012000 } from './migrations/1763700012000-create-token-spending.js';
import { CreatePluginStates1763700014000 } from './migrations/1763700014000-create-plugin-states.js';
import { CreateChannelMessages1763700016000 } from './migrations/1763700016000-create-channel-messages.js';
import { DateChannelConversations1763700016100 } from './migrations/1763700016100-date-channel-conversations.js';
import { CreateRateBuckets1763700017000 } from './migrations/1763700017000-create-rate-buckets.js';
import { FindEndedSessions1763700019000 } from './migrations/1763700019000-find-ended-sessions.js';
import { CreateMemoryEntries1763700020000 } from './migrations/1763700020000-create-memory-entries.js';
import { ShowTurnsElsewhere1763700022000 } from './migrations/1763700022000-show-turns-elsewhere.js';
import { TallySessionsByHour1763700023000 } from './migrations/1763700023000-tally-sessions-by-hour.js';
import { FindTurnsOfSession1763700024000 } from './migrations/1763700024000-find-turns-of-session.js';
import { CreateMasterKeyCheck1763700025000 } from './migrations/1763700025000-create-master-key-check.js';
import { KeepFinishReasons1795340401000 } from './migrations/1795340401000-keep-finish-reasons.js';
import { MarkGroupMessages1795340900000 } from './migrations/1795340900000-mark-group-messages.js';
import { EndWhatTokensMade1795341000000 } from './migrations/1795341000000-end-what-tokens-made.js';
import { CountStoredBytes1795344200000 } from './migrations/1795344200000-count-stored-bytes.js';
import { KeepTurnSteps1795368019000 } from './migrations/1795368019000-keep-turn-steps.js';
import { CreateConversationSummaries1795370294000 } from './migrations/1795370294000-create-conversation-summaries.js';
import { KeepMessageOptions1795371138000 } from './migrations/1795371138000-keep-message-options.js';
import { BindSessionsToAgents1795379487000 } from './migrations/1795379487000-bind-sessions-to-agents.js';
import { ChainTheAudit1795379687000 } from './migrations/1795379687000-chain-the-audit.js';
import { CountWhatTurnsCost1795379987000 } from './migrations/1795379987000-count-what-turns-cost.js';
import { FindTokensInOrder1795380293000 } from './migrations/1795380293000-find-tokens-in-order.js';
import { CoolModelsDown1795380865000 } from './migrations/1795380865000-cool-models-down.js';
import { CreateAssertionKeys1795381628000 } from './migrations/1795381628000-create-assertion-keys.js';
import { TakeTurnsUp1795382354000 } from './migrations/1795382354000-take-turns-up.js';
import { RemoveOldContent1795384089000 } from './migrations/1795384089000-remove-old-content.js';
import { BindTokensToAgents1795384222000 } from './migrations/1795384222000-bind-tokens-to-agents.js';
import { KeepWhoDecidedApprovals1795384764000 } from './migrations/1795384764000-keep-who-decided-approvals.js';
import { CreateIdentityDenials1795385557000 } from './migrations/1795385557000-create-identity-denials.js';
import { EndTokensWithTheirMakers1795390000000 } from './migrations/1795390000000-end-tokens-with-their-makers.js';
import { TellOfErasedFolders1795390100000 } from './migrations/1795390100000-tell-of-erased-folders.js';
import { KeepFilesOfChannelMessages1795401354000 } from './migrations/1795401354000-keep-files-of-channel-messages.js';
import { CreateToolQuestions1795401355000 } from './migrations/1795401355000-create-tool-questions.js';
import { ParkTurnsThatAwaitApproval1795401514000 } from './migrations/1795401514000-park-turns-that-await-approval.js';
import { KeepSpendingOfHandOvers1795402000000 } from './migrations/1795402000000-keep-spending-of-hand-overs.js';
import { FindTurnsInOrder1795402100000 } from './migrations/1795402100000-find-turns-in-order.js';
import { AwaitOutputsOfTools1795402200000 } from './migrations/1795402200000-await-outputs-of-tools.js';
import { KeepWhoAskedApprovals1795406097000 } from './migrations/1795406097000-keep-who-asked-approvals.js';
import { FindSessionsOfAgents1795407000000 } from './migrations/1795407000000-find-sessions-of-agents.js';
import { ValidateChecks1795408000000 } from './migrations/1795408000000-validate-checks.js';
import { KeepCutsWithinTurns1795409000000 } from './migrations/1795409000000-keep-cuts-within-turns.js';
import { CheckStepsOfTurns1795409100000 } from './migrations/1795409100000-check-steps-of-turns.js';
import { ShowApprovalsInChannels1795410000000 } from './migrations/1795410000000-show-approvals-in-channels.js';
import { CreateTurnFiles1795410100000 } from './migrations/1795410100000-create-turn-files.js';
import { KeepResponses1795416700000 } from './migrations/1795416700000-keep-responses.js';
import { TellAgentsOfTasks1795420000000 } from './migrations/1795420000000-tell-agents-of-tasks.js';
import { FindTasksByChange1795420100000 } from './migrations/1795420100000-find-tasks-by-change.js';
import { CountReplicas1795421000000 } from './migrations/1795421000000-count-replicas.js';
import { NoteUnseenMedia1795422000000 } from './migrations/1795422000000-note-unseen-media.js';
import { FindSpendingByDay1795423000000 } from './migrations/1795423000000-find-spending-by-day.js';
import { SignInToToolServers1795430000000 } from './migrations/1795430000000-sign-in-to-tool-servers.js';
import { FindTurnsWithoutAnswer1795431000000 } from './migrations/1795431000000-find-turns-without-answer.js';
import { FindWhatPeopleSent1795431100000 } from './migrations/1795431100000-find-what-people-sent.js';

/** All migrations in their order. A migration that is not listed here does not run. */
export const migrations = [
  CreateTokens1763700000000,
  CreateSessions1763700001000,
  CreateMessages1763700002000,
  CreateConfigOverrides1763700003000,
  CreateLogs1763700004000,
  CreateHooks1763700005000,
  CreateEvents1763700006000,
  CreateChannelStates1763700007000,
  CreateToolRecords1763700008000,
  CutTurnsOff1763700009000,
  CreateIdempotencyKeys1763700010000,
  CreateTokenSpending1763700012000,
  CreatePluginStates1763700014000,
  CreateChannelMessages1763700016000,
  DateChannelConversations1763700016100,
  CreateRateBuckets1763700017000,
  FindEndedSessions1763700019000,
  CreateMemoryEntries1763700020000,
  ShowTurnsElsewhere1763700022000,
  TallySessionsByHour1763700023000,
  FindTurnsOfSession1763700024000,
  CreateMasterKeyCheck1763700025000,
  KeepFinishReasons1795340401000,
  MarkGroupMessages1795340900000,
  EndWhatTokensMade1795341000000,
  CountStoredBytes1795344200000,
  KeepTurnSteps1795368019000,
  CreateConversationSummaries1795370294000,
  KeepMessageOptions1795371138000,
  BindSessionsToAgents1795379487000,
  ChainTheAudit1795379687000,
  CountWhatTurnsCost1795379987000,
  FindTokensInOrder1795380293000,
  CoolModelsDown1795380865000,
  CreateAssertionKeys1795381628000,
  TakeTurnsUp1795382354000,
  RemoveOldContent1795384089000,
  BindTokensToAgents1795384222000,
  KeepWhoDecidedApprovals1795384764000,
  CreateIdentityDenials1795385557000,
  EndTokensWithTheirMakers1795390000000,
  TellOfErasedFolders1795390100000,
  KeepFilesOfChannelMessages1795401354000,
  CreateToolQuestions1795401355000,
  ParkTurnsThatAwaitApproval1795401514000,
  KeepSpendingOfHandOvers1795402000000,
  FindTurnsInOrder1795402100000,
  AwaitOutputsOfTools1795402200000,
  KeepWhoAskedApprovals1795406097000,
  FindSessionsOfAgents1795407000000,
  ValidateChecks1795408000000,
  KeepCutsWithinTurns1795409000000,
  CheckStepsOfTurns1795409100000,
  ShowApprovalsInChannels1795410000000,
  CreateTurnFiles1795410100000,
  KeepResponses1795416700000,
  TellAgentsOfTasks1795420000000,
  FindTasksByChange1795420100000,
  CountReplicas1795421000000,
  NoteUnseenMedia1795422000000,
  FindSpendingByDay1795423000000,
  SignInToToolServers1795430000000,
  FindTurnsWithoutAnswer1795431000000,
  FindWhatPeopleSent1795431100000,
];
