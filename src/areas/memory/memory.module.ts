import { Module } from '@nestjs/common';
import { AgentModule } from '../turns/agent.module.js';
import { Memory } from './memory.service.js';
import { MemoryStore } from './memory.store.js';
import { MemoryGauge } from './memory-gauge.js';
import { MemoryTools } from './memory-tools.js';
import { RecalledMemories } from './recalled-memories.js';

/** What is remembered of users from one session to the next. */
@Module({
  imports: [AgentModule],
  providers: [
    MemoryStore,
    Memory,
    Memory.metric,
    MemoryTools,
    RecalledMemories,
    MemoryGauge,
    MemoryGauge.provider,
  ],
  exports: [Memory],
})
export class MemoryModule {}
