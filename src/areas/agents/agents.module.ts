import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { AgentDirectory } from './agent-directory.service.js';

/** What the gateway tells operators of its agents. */
@Module({ imports: [ModelsModule], providers: [AgentDirectory], exports: [AgentDirectory] })
export class AgentsModule {}
