import { Readable } from 'node:stream';
import { createProgram } from '../../src/cli/program.js';
import { run } from '../../src/cli/run-command-line.js';
import { readEnvironment } from '../../src/platform/settings/environment.js';
import type { TestGateway } from './gateway.js';
import { startNoGateway } from './no-gateway.js';

/** How a command ended, and what it wrote. */
interface EndedCommand {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs until it is stopped. */
export interface RunningCommand {
  readonly stdout: string;
  readonly stderr: string;
  /** Stops it as Ctrl-C does. */
  stop(): Promise<EndedCommand>;
}

interface Terms {
  readonly variables: Readonly<Record<string, string>>;
  readonly isColored?: boolean;
  /** Lines typed on standard input. */
  readonly typed?: readonly string[];
}

/** The command line in this process, asking a gateway over HTTP. */
export class RemoteCommandLine {
  constructor(
    private readonly gateway: TestGateway,
    private readonly profile: 'a' | 'b' = 'b',
  ) {}

  get variables(): Record<string, string> {
    return {
      AGENT_GATEWAY_URL: `http://127.0.0.1:${this.gateway.started.ports[this.profile]}`,
      AGENT_GATEWAY_TOKEN: this.gateway.token,
    };
  }

  call(...args: string[]): Promise<EndedCommand> {
    return this.callWith({}, ...args);
  }

  callWith(terms: Partial<Terms>, ...args: string[]): Promise<EndedCommand> {
    return start(args, { variables: this.variables, ...terms }).ended;
  }

  /** What a command prints with --json; the command must succeed. */
  async json<Printed>(...args: string[]): Promise<Printed> {
    const { code, stdout, stderr } = await this.call(...args, '--json');
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr });
    return JSON.parse(stdout) as Printed;
  }

  follow(...args: string[]): RunningCommand {
    const stopping = new AbortController();
    const { ended, written } = start(args, { variables: this.variables }, stopping.signal);
    return {
      get stdout() {
        return written.stdout;
      },
      get stderr() {
        return written.stderr;
      },
      stop: () => {
        stopping.abort();
        return ended;
      },
    };
  }
}

/** Starts a command line in this process. */
function start(args: readonly string[], { variables, isColored, typed = [] }: Terms, stop?: AbortSignal) {
  const written = { stdout: '', stderr: '' };
  const terminal = {
    input: Readable.from(typed.map((line) => `${line}\n`)),
    out: (text: string) => {
      written.stdout += text;
    },
    err: (text: string) => {
      written.stderr += text;
    },
    ...(isColored !== undefined && { isColored }),
    ...(stop !== undefined && { stop }),
  };
  const environment = readEnvironment(variables);
  const program = createProgram({ environment, terminal, startGateway: startNoGateway });
  const ended = run(args, program, terminal).then((code) => ({ code, ...written }));
  return { ended, written };
}

/** Runs a command line with these variables alone. */
export function runCommand(
  variables: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<EndedCommand> {
  return start(args, { variables }).ended;
}
