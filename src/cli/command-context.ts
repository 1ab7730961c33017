import { userInfo } from 'node:os';
import type { Environment } from '../platform/settings/environment.js';
import type { StartGateway } from './serve/served-gateway.js';

/** What every command receives. A command returns when it is done and throws when it failed. */
export interface CommandContext {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly startGateway: StartGateway;
  /** The file of `--config`, once the command line has been parsed. */
  configFile(): string | undefined;
  /** `--url` and `--token`, if they were given. */
  remote(): { readonly url?: string; readonly token?: string };
}

/** Where commands write: results to standard output, remarks about them to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** The person's input; absent where nobody can be asked. */
  readonly input?: NodeJS.ReadableStream;
  /** Whether the results go to a terminal that shows colours. */
  readonly isColored?: boolean;
  /** Ends a command that would run for ever; without it, Ctrl-C, SIGTERM and a reader that went away do. */
  readonly stop?: AbortSignal;
}

/** The process's own streams. A reader that closes early (`… | head`) does not fail the command. */
export function processTerminal(environment: Environment): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    isColored: process.stdout.isTTY && environment.wantsColor,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    // Not touched before a command reads it.
    get input() {
      return process.stdin;
    },
  };
}

/** Aborts when a command that runs until it is stopped has to end. */
export function stopOf({ stop }: Terminal): AbortSignal {
  if (stop !== undefined) return stop;
  const stopping = new AbortController();
  const end = (): void => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  process.stdout.once('error', end);
  return stopping.signal;
}

/** The person at this command line, for the audit log. */
export function operatorActor(): string {
  try {
    return `${userInfo().username} at the command line`;
  } catch {
    // In a container the user may have no name.
    return 'the command line';
  }
}
