/**
 * How every command ends. A stop by SIGTERM or SIGINT that ran to its end is `ok`; one that a third signal cut short
 * ends with 128 plus the signal's number, as in shells.
 */
export const ExitCode = {
  ok: 0,
  /** It did not work: a wrong setting, a port in use, a token that does not exist. Standard error says why. */
  failed: 1,
  /** The command line itself is wrong; nothing was tried. */
  usage: 2,
} as const;

const SIGNAL_BASE = 128;

export function exitCodeOfSignal(signalNumber: number): number {
  return SIGNAL_BASE + signalNumber;
}

/** Ends a command with `ExitCode.failed` after the command itself has reported the failure. */
export class CommandFailed extends Error {
  constructor() {
    super('The command failed.');
    this.name = new.target.name;
  }
}
