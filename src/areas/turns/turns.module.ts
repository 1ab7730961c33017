import { Module } from '@nestjs/common';
import { TokenEndings } from '../../platform/tokens/token-endings.js';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { ModelsModule } from '../models/models.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { AcceptedTurns } from './accepted/accepted-turns.service.js';
import { AcceptedTurnsStore } from './accepted/accepted-turns.store.js';
import { TokenWaitingTurns } from './accepted/token-waiting-turns.js';
import { AttachmentFetcher } from './attachments/attachment-fetcher.js';
import { EarlierMessages } from './callers/earlier-messages.js';
import { SessionParties } from './limits/session-parties.js';
import { TokenLimits } from './limits/token-limits.js';
import { TurnRefusals, turnRefusalMetric } from './limits/turn-refusals.js';
import { TurnSlots } from './limits/turn-slots.js';
import { LostTurns } from './lost/lost-turns.service.js';
import { LostTurnsStore } from './lost/lost-turns.store.js';
import { TurnReleases } from './lost/turn-releases.service.js';
import { MessageStore } from './message.store.js';
import { MessageOptionsCheck } from './message-options.js';
import { ModelProbe } from './model-probe.service.js';
import { ContextCutsStore } from './prompt/context-cuts.store.js';
import { Summaries } from './prompt/summaries.service.js';
import { TurnPrompt } from './prompt/turn-prompt.js';
import { RemoteTurnsStore } from './relay/remote-turns.store.js';
import { TurnRelays } from './relay/turn-relays.service.js';
import { ModelCalls } from './rounds/model-calls.js';
import { TurnFailovers } from './rounds/turn-failovers.js';
import { TurnRunner } from './rounds/turn-runner.js';
import { TurnStepsStore } from './rounds/turn-steps.store.js';
import { RunningTurns } from './running-turns.js';
import { TurnStore } from './turn.store.js';
import { TurnAccounts } from './turn-account.js';
import { TurnDirectory } from './turn-directory.service.js';
import { TurnEndingsStore } from './turn-endings.store.js';
import { TurnFiles } from './turn-files.js';
import { TurnHub } from './turn-hub.js';
import { TurnLeases } from './turn-leases.store.js';
import { TurnLog } from './turn-log.js';
import { TurnMetrics, turnMetricProviders } from './turn-metrics.js';
import { TurnQueue } from './turn-queue.service.js';
import { TurnResults } from './turn-results.store.js';
import { TurnSeries } from './turn-series.js';
import { TurnStarter } from './turn-starter.service.js';
import { TurnWatch } from './turn-watch.service.js';
import { TurnsService } from './turns.service.js';
import { UnstoredTurns } from './unstored/unstored-turns.service.js';
import { UnstoredUsageStore } from './unstored/unstored-usage.store.js';
import { WaitingPlaces } from './waiting-places.service.js';

/** Messages and the turns that answer them: their line, their lease, the loop of model and tools, their end. */
@Module({
  imports: [ModelsModule, ToolsModule, TokensModule, UsageModule],
  providers: [
    MessageOptionsCheck,
    TurnFailovers,
    ModelCalls,
    TurnRunner,
    TurnStepsStore,
    TurnFiles,
    ContextCutsStore,
    Summaries,
    MessageStore,
    TurnStore,
    TurnLeases,
    TurnEndingsStore,
    TurnResults,
    RunningTurns,
    TurnHub,
    RemoteTurnsStore,
    TurnRelays,
    AttachmentFetcher,
    EarlierMessages,
    TurnSlots,
    turnRefusalMetric,
    TurnRefusals,
    SessionParties,
    TokenLimits,
    TurnQueue,
    WaitingPlaces,
    ...turnMetricProviders,
    TurnMetrics,
    TurnLog,
    TurnPrompt,
    TurnAccounts,
    TurnsService,
    TurnStarter,
    LostTurnsStore,
    TurnReleases,
    LostTurns,
    AcceptedTurnsStore,
    AcceptedTurns,
    TokenWaitingTurns,
    TurnWatch,
    TurnDirectory,
    TurnSeries,
    UnstoredUsageStore,
    UnstoredTurns,
    ModelProbe,
  ],
  exports: [
    ModelProbe,
    MessageStore,
    TurnLeases,
    TurnEndingsStore,
    TurnResults,
    TurnFiles,
    RunningTurns,
    TurnHub,
    RemoteTurnsStore,
    AttachmentFetcher,
    EarlierMessages,
    TurnQueue,
    TurnStarter,
    AcceptedTurns,
    LostTurns,
    MessageOptionsCheck,
    TurnDirectory,
    TurnSeries,
    TokenLimits,
    TurnSlots,
    UnstoredTurns,
  ],
})
export class TurnsModule {
  constructor(endings: TokenEndings, waiting: TokenWaitingTurns) {
    endings.add(waiting);
  }
}
