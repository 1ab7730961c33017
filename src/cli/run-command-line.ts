import { CommanderError } from 'commander';
import { Redactor } from '../platform/logging/redactor.js';
import { readEnvironment } from '../platform/settings/environment.js';
import { processTerminal, type Terminal } from './command-context.js';
import { CommandFailed, ExitCode } from './exit-codes.js';
import { failureSentence } from './failure-sentence.js';
import { createProgram } from './program.js';
import type { StartGateway } from './serve/served-gateway.js';

/** A handle left open must not keep a finished command running. */
const LINGER_MS = 2000;

/** Runs one command line and ends the process with its exit code. */
export async function runCommandLine(args: readonly string[], startGateway: StartGateway): Promise<void> {
  const environment = readEnvironment();
  const terminal = processTerminal(environment);
  const redactor = new Redactor();
  redactor.setFor('environment', environment.secrets);
  const redacting = { err: (text: string) => terminal.err(redactor.redact(text)) };
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
