import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Environment } from '../../config/environment.js';
import type { McpServerSettings } from '../../config/sections/mcp.section.js';
import { Settings } from '../../config/settings.js';
import { Logs } from '../../logs/logger.js';
import { boundCommand, type ChildCommand } from '../transport/child-command.js';
import { childEnvironment } from '../transport/child-environment.js';
import { bubblewrapped } from './bubblewrap.js';
import { bubblewrapProblem } from './bubblewrap-probe.js';

export type SandboxBackend = 'bubblewrap' | 'none';

/** Says how children of tool servers are started, and what really shuts them in. */
@Injectable()
export class Sandbox implements OnModuleInit {
  private inUse: SandboxBackend = 'none';

  constructor(
    private readonly settings: Settings,
    private readonly environment: Environment,
    private readonly logs: Logs,
  ) {}

  get backend(): SandboxBackend {
    return this.inUse;
  }

  /** Throws when the settings insist on a sandbox that does not work here. */
  async onModuleInit(): Promise<void> {
    const { backend: wanted } = this.settings.current.security.sandbox;
    if (wanted === 'none') return;
    const problem = await bubblewrapProblem(childEnvironment(this.environment));
    if (problem === undefined) {
      this.inUse = 'bubblewrap';
    } else if (wanted === 'bubblewrap') {
      throw new Error(`security.sandbox.backend is "bubblewrap", which does not work here: ${problem}`);
    } else {
      this.logs.for('mcp').debug('children of tool servers run without a sandbox', { reason: problem });
    }
  }

  /** The child of a stdio server: inside the sandbox, under limits, bound to the life of this process. */
  commandOf(server: McpServerSettings): ChildCommand {
    const { mcp, database } = this.settings.current;
    const command: ChildCommand = {
      file: server.command,
      args: server.args,
      cwd: server.cwd === '' ? undefined : server.cwd,
      env: { ...childEnvironment(this.environment), ...server.env },
    };
    const wishes = { writablePaths: server.writable_paths, network: server.network };
    const { configFile } = this.environment;
    const hidden = { folders: [database.data_dir], files: [configFile ?? 'gateway.toml'] };
    return boundCommand(this.inUse === 'bubblewrap' ? bubblewrapped(command, wishes, hidden) : command, {
      memoryMb: mcp.max_child_memory_mb,
      files: mcp.max_child_files,
    });
  }
}
