import { Module } from '@nestjs/common';
import { scrapedGauge } from '../../platform/metrics/scrape.service.js';
import { ToolsModule } from '../tools/tools.module.js';
import { Memory } from './memory.service.js';
import { MemoryStore } from './memory.store.js';
import { MemoryTools } from './memory-tools.js';
import { RecalledMemories } from './recalled-memories.js';

/** What is remembered about users from one session to the next. */
@Module({
  imports: [ToolsModule],
  providers: [
    MemoryStore,
    Memory,
    Memory.metric,
    MemoryTools,
    RecalledMemories,
    ...scrapedGauge(
      {
        name: 'agent_gateway_memory_entries',
        help: 'Memories of all users; 0 while memory is switched off.',
      },
      Memory,
      (memory) => memory.entries(),
    ),
  ],
  exports: [Memory],
})
export class MemoryModule {}
