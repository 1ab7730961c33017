import { release } from 'node:os';
import { boundCommand } from '../transport/child-command.js';
import { GroupedChild } from '../transport/child-process.js';
import { bubblewrapped, type SandboxAbilities } from './bubblewrap.js';
import { type Exposure, exposureOf } from './exposure.js';
import type { GatewayPaths } from './guarded-folders.js';
import { programFile } from './program-parts.js';
import { syscallFilter } from './syscall-filter.js';

const PROBE_MS = 5000;
/** Since then a limit of processes counts for each user namespace, and not for all that a user runs. */
const COUNTS_BY_NAMESPACE = { major: 5, minor: 14 };
const LEAST = { tmpMb: 1, sharedMb: 1, processes: 0, network: false };

export interface ProbeResult {
  /** Why bubblewrap does not work here; undefined when it does. */
  readonly problem: string | undefined;
  readonly abilities: SandboxAbilities;
}

/** Tries what bubblewrap can do on this machine with what children are given, the best first. */
export async function probeBubblewrap(
  env: Readonly<Record<string, string>>,
  gatewayPaths: GatewayPaths,
): Promise<ProbeResult> {
  const filter = syscallFilter();
  const none = { forbidsNamespaces: false, filter };
  if (programFile('bwrap', { path: env['PATH'] ?? '', cwd: '/' }) === undefined)
    return { problem: 'bubblewrap is not installed', abilities: none };
  const exposure = exposureOf({ ...PROBE, env }, { readablePaths: [], writablePaths: [] }, gatewayPaths);
  const best = { forbidsNamespaces: true, filter };
  const problem = await problemOf(env, exposure, best);
  if (problem === undefined) return { problem, abilities: best };
  // A version that is older, or installed as setuid: the filter forbids the same.
  return { problem: await problemOf(env, exposure, none), abilities: none };
}

/** Whether this kernel can limit the processes of one child without counting those of others. */
export function countsByNamespace(version: string = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: since, minor: sinceMinor } = COUNTS_BY_NAMESPACE;
  return major > since || (major === since && minor >= sinceMinor);
}

const PROBE = { file: 'true', args: [], cwd: '/' } as const;

async function problemOf(
  env: Readonly<Record<string, string>>,
  exposure: Exposure,
  abilities: SandboxAbilities,
): Promise<string | undefined> {
  const command = bubblewrapped({ ...PROBE, env }, exposure, LEAST, abilities);
  const child = new GroupedChild(boundCommand(command, { memoryMb: 0, files: 0, groups: [] }));
  let said = '';
  child.process.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const late = setTimeout(() => void child.kill(), PROBE_MS);
  const how = await child.ended;
  clearTimeout(late);
  if (child.process.exitCode === 0) return undefined;
  const [line = ''] = said.trim().split('\n', 1);
  return line || how;
}
