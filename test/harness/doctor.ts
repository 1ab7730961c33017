import type { TestGateway } from './gateway.js';
import { runCommand } from './remote-command-line.js';

/** A part as `doctor` reports it. */
export interface Finding {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
}

export interface Diagnosis {
  readonly code: number;
  readonly parts: readonly Finding[];
  part(name: string): Finding | undefined;
}

/** Runs `doctor --json` with these variables alone. */
export async function diagnosis(variables: Readonly<Record<string, string>>): Promise<Diagnosis> {
  const { code, stdout } = await runCommand(variables, 'doctor', '--json');
  const { parts } = JSON.parse(stdout) as { parts: Finding[] };
  return { code, parts, part: (name) => parts.find((one) => one.name === name) };
}

/** Makes `doctor` ask a gateway over HTTP. */
export function overHttp({ started, token }: Pick<TestGateway, 'started' | 'token'>): Record<string, string> {
  return { AGENT_GATEWAY_URL: `http://127.0.0.1:${started.ports.b}`, AGENT_GATEWAY_TOKEN: token };
}

/** Makes `doctor` look at the gateway's database itself. The gateway's data folder does not exist there. */
export function onItsMachine(
  { started, database }: Pick<TestGateway, 'started' | 'database'>,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    DATABASE_URL: database.url,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY__GATEWAY__MANAGEMENT_PORT: String(started.ports.operations),
    ...more,
  };
}
