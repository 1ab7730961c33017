import { Module } from '@nestjs/common';
import { ToolCallRunner } from './tool-call-runner.js';
import { ToolCatalog } from './tool-catalog.port.js';
import { ToolRegistry } from './tool-registry.js';
import { TurnRunner } from './turn-runner.js';

/** The agent's loop and its tools. The model provider comes from outside: it is chosen at the start. */
@Module({
  providers: [TurnRunner, ToolCallRunner, ToolRegistry, { provide: ToolCatalog, useExisting: ToolRegistry }],
  exports: [TurnRunner, ToolRegistry],
})
export class AgentModule {}
