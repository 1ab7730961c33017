import { BlockList, isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import { boundCommand, type ChildCommand, childEnvironment } from '../transport/child-process.js';
import { bubblewrapped, countsByNamespace, probeBubblewrap, type SandboxAbilities } from './bubblewrap.js';
import { type ChildGroup, ChildGroups } from './control-groups.js';
import { exposureOf } from './exposure.js';
import type { GatewayPaths } from './guarded-folders.js';
import { factsOf, isFile } from './paths.js';
import { stateFolder } from './user-folders.js';

export type SandboxBackend = 'bubblewrap' | 'none';

/** In the sandbox only `/tmp` is writable, and npm and uv do not work without writable caches. */
const CACHES = { npm_config_cache: '/tmp/.npm', XDG_CACHE_HOME: '/tmp/.cache' };

/** Decides how children of tool servers are started, and reports which sandbox is really in use. */
@Injectable()
export class Sandbox implements OnApplicationShutdown, OnModuleInit {
  private inUse: SandboxAbilities | undefined;
  private refusal: SandboxMissing | undefined;
  private missingWarning: string | undefined;
  private isWarned = false;
  private groups: ChildGroups | undefined;
  private readonly logger: Logger;

  constructor(
    private readonly settings: Settings,
    private readonly environment: Environment,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp');
  }

  get backend(): SandboxBackend {
    return this.inUse === undefined ? 'none' : 'bubblewrap';
  }

  /** Set when children run without a sandbox though no one configured that. */
  get warning(): string | undefined {
    return this.missingWarning;
  }

  /** Probes the sandbox. Throws when `security.sandbox.backend` requires one that does not work here. */
  async onModuleInit(): Promise<void> {
    this.groups = ChildGroups.detect();
    const { backend: configured } = this.settings.current.security.sandbox;
    if (configured === 'none') return;
    const { problem, abilities } = await probeBubblewrap(
      childEnvironment(this.environment),
      this.gatewayPaths(),
    );
    if (problem === undefined) {
      this.inUse = abilities;
      this.warnOf(abilities);
    } else if (configured === 'bubblewrap') {
      throw new Error(`security.sandbox.backend is "bubblewrap", which does not work here: ${problem}`);
    } else {
      this.runWithout(problem);
    }
  }

  /** Runs after all servers have stopped and removes their control groups. */
  async onApplicationShutdown(): Promise<void> {
    await this.groups?.close();
  }

  /**
   * The command of a stdio server: inside the sandbox, under limits, ending with this process. Throws `SandboxMissing`
   * where children may not run without one, and an error when a grant of the server is not allowed.
   * @param userFolder HOME and working folder of a child that runs for one user, which exists
   */
  commandOf(server: McpServerSettings, userFolder?: string): ChildCommand {
    if (this.refusal !== undefined) throw this.refusal;
    this.warn();
    const { mcp } = this.settings.current;
    const command = commandFor(server, childEnvironment(this.environment), userFolder);
    const inside =
      this.inUse === undefined
        ? { ...command, env: { ...this.caches(userFolder), ...command.env } }
        : this.sandboxed(command, { server, userFolder }, this.inUse);
    const group = this.groupOf();
    const limits = {
      memoryMb: mcp.max_child_memory_mb,
      files: mcp.max_child_files,
      groups: group?.members ?? [],
    };
    const { cwd: folder } = command;
    const bound = { ...boundCommand(inside, limits), folder };
    return group === undefined ? bound : { ...bound, onEnd: group.release };
  }

  private sandboxed(
    command: ChildCommand,
    { server, userFolder }: { server: McpServerSettings; userFolder: string | undefined },
    abilities: SandboxAbilities,
  ): ChildCommand {
    const { mcp } = this.settings.current;
    const { readable_paths: readablePaths, writable_paths: writablePaths } = server;
    const grants = { readablePaths, writablePaths, userFolder };
    const exposure = exposureOf(command, grants, this.gatewayPaths());
    const bounds = {
      tmpMb: mcp.max_child_tmp_mb,
      sharedMb: mcp.max_child_shm_mb,
      processes: countsByNamespace() ? mcp.max_child_processes : 0,
      network: server.network,
    };
    return bubblewrapped({ ...command, env: { ...CACHES, ...command.env } }, exposure, bounds, abilities);
  }

  /** Without a sandbox, programs that run for users find the packages that were fetched before. */
  private caches(userFolder: string | undefined): Readonly<Record<string, string>> {
    const home = this.environment.lookup('HOME') ?? '';
    if (userFolder === undefined || home === '') return {};
    return { npm_config_cache: join(home, '.npm'), XDG_CACHE_HOME: join(home, '.cache') };
  }

  private groupOf(): ChildGroup | undefined {
    const { mcp } = this.settings.current;
    return this.groups?.make({
      processes: mcp.max_child_processes,
      memoryMb: mcp.max_child_total_memory_mb,
    });
  }

  private runWithout(problem: string): void {
    this.refusal = refusalWithout(problem, this.settings.current);
    if (this.refusal === undefined) this.missingWarning = warningWithout(problem);
    if (hasStdioServers(this.settings)) this.warn();
  }

  /** Logs once: at the start, or when the first server is started later. */
  private warn(): void {
    const reason = this.refusal?.message ?? this.missingWarning;
    if (reason !== undefined && !this.isWarned) this.logger.warn(reason);
    this.isWarned = true;
  }

  private gatewayPaths(): GatewayPaths {
    return {
      configFile: this.environment.configFile ?? 'gateway.toml',
      dataFolder: this.settings.current.database.data_dir,
      stateFolder: stateFolder(this.settings.current),
      workingFolder: process.cwd(),
      home: this.environment.lookup('HOME') ?? '',
    };
  }

  /** Logs how each limit is enforced on this machine. */
  private warnOf({ forbidsNamespaces, filter }: SandboxAbilities): void {
    // The kernel does not count the processes of root against the rlimit.
    const byRlimit = countsByNamespace() && process.getuid?.() !== 0 ? 'rlimit' : 'none';
    const processes = this.groups?.boundsProcesses === true ? 'control group' : byRlimit;
    this.logger.debug('stdio servers run in the sandbox', {
      processes,
      memory: this.groups?.boundsMemory === true ? 'control group' : 'rlimit of each process',
      userNamespaces: forbidsNamespaces ? 'disabled' : 'filtered',
      systemCalls: filter === undefined ? 'all' : 'filtered',
    });
    if (processes === 'none' && hasStdioServers(this.settings))
      this.logger.warn(
        'the number of processes of stdio servers cannot be limited here; run the gateway as a user of its own, not as root',
      );
  }
}

const USER_STATE = `\${user_state}`;

/**
 * An argument (also after `--flag=`) that names a file or folder below the gateway's own working folder, as it is from
 * there: the settings say where a script is without knowing of the folders of users.
 */
function whereItIs(arg: string): string {
  const [, flag = '', path = ''] = /^(--?[\w-]+=)?(.*)$/s.exec(arg) ?? [];
  const isNamed = path.includes('/') ? factsOf(path) !== undefined : isFile(path);
  return isNamed ? `${flag}${resolve(path)}` : arg;
}

/** A program with a path is looked for where the gateway runs, also when it then runs in the folder of a user. */
function commandFor(
  { command, args, cwd, env: own }: McpServerSettings,
  inherited: Readonly<Record<string, string>>,
  userFolder: string | undefined,
): ChildCommand {
  const workingFolder = cwd === '' ? undefined : cwd;
  if (userFolder === undefined)
    return { file: command, args, cwd: workingFolder, env: { ...inherited, ...own } };
  const filled = (text: string): string => text.replaceAll(USER_STATE, userFolder);
  const env = Object.entries({ HOME: userFolder, ...own }).map(([name, value]) => [name, filled(value)]);
  return {
    file: command.includes('/') ? resolve(workingFolder ?? '.', command) : command,
    args: args.map((arg) => filled(workingFolder === undefined ? whereItIs(arg) : arg)),
    cwd: workingFolder ?? userFolder,
    env: { ...inherited, ...(Object.fromEntries(env) as Record<string, string>) },
  };
}

function hasStdioServers(settings: Settings): boolean {
  const servers = Object.values(settings.current.mcp.servers);
  return servers.some(({ enabled, transport }) => enabled && transport === 'stdio');
}

const REMEDIES =
  'install bubblewrap and allow user namespaces, or accept it with backend = "none" under [security.sandbox]';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** The sandbox does not work on this machine, and this gateway may not run stdio servers without one. */
export class SandboxMissing extends Error {
  override readonly name = 'SandboxMissing';
}

/**
 * Decides about stdio servers where the sandbox does not work: a gateway with its embedded database on loopback addresses
 * counts as a trial and runs them; any other refuses them (docs/mcp.md, The sandbox).
 * @returns why they are refused; undefined when they run
 */
function refusalWithout(problem: string, settings: GatewaySettings): SandboxMissing | undefined {
  const { gateway, database } = settings;
  const hosts = [gateway.host, gateway.management_host].filter((host) => host !== '');
  const elsewhere = hosts.find((host) => !isLoopback(host));
  if (database.url === '' && elsewhere === undefined) return undefined;
  const cause = database.url === '' ? `it listens at ${elsewhere}` : 'it has a database of its own';
  return new SandboxMissing(
    `This gateway does not start stdio servers without a sandbox (${cause}): ${REMEDIES}. Problem here: ${problem}`,
  );
}

/** The warning where they run all the same. */
function warningWithout(problem: string): string {
  return `stdio servers run without a sandbox, with all rights of the gateway: ${REMEDIES}. Problem here: ${problem}`;
}

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
