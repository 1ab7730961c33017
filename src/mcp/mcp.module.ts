import { Module } from '@nestjs/common';
import { McpServers } from './mcp-servers.service.js';

/** Tool servers (MCP). */
@Module({ providers: [McpServers], exports: [McpServers] })
export class McpModule {}
