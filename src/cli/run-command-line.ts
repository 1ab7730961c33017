import { CommanderError } from 'commander';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Redactor } from '../platform/logging/redactor.js';
import { readEnvironment } from '../platform/settings/environment.js';
import { InvalidSettings } from '../platform/settings/settings-validation.js';
import { processTerminal, type Terminal } from './command-context.js';
import { CommandFailed, ExitCode } from './exit-codes.js';
import { createProgram } from './program.js';
import type { StartGateway } from './serve/served-gateway.js';

/** A handle left open must not keep a finished command running. */
const LINGER_MS = 2000;

/** Runs one command line and ends the process with its exit code. */
export async function runCommandLine(args: readonly string[], startGateway: StartGateway): Promise<void> {
  const environment = readEnvironment();
  const terminal = processTerminal();
  const redactor = new Redactor();
  redactor.setFor('environment', environment.secrets);
  const redacting = { ...terminal, err: (text: string) => terminal.err(redactor.redact(text)) };
  process.exitCode = await run(args, createProgram({ environment, terminal, startGateway }), redacting);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Runs a command line on a program. @returns its exit code */
export async function run(
  args: readonly string[],
  program: ReturnType<typeof createProgram>,
  terminal: Pick<Terminal, 'err'>,
): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return ExitCode.ok;
  } catch (error) {
    // Commander has already written its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    if (!(error instanceof CommandFailed)) terminal.err(`${failureSentence(error)}\n`);
    return ExitCode.failed;
  }
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);
const SQLSTATE = /^[0-9A-Z]{5}$/;
const CHECK = 'check DATABASE_URL (or database.url), and that PostgreSQL is running there.';

/** One sentence for people about the error that stopped a command; for invalid settings, every problem. */
export function failureSentence(error: unknown): string {
  if (error instanceof InvalidSettings) return error.message;
  if (error instanceof GatewayError)
    return error.cause === undefined ? error.message : failureSentence(error.cause);
  if (error instanceof AggregateError && error.message === '') return failureSentence(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (UNREACHABLE.has(code)) return `The database cannot be reached (${error.message}): ${CHECK}`;
  if ('severity' in error && SQLSTATE.test(code)) return `The database refused (${code}): ${error.message}`;
  return error.message || error.name;
}
