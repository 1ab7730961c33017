/**
 * How every command ends. A stop by SIGTERM or SIGINT that ran to its end is `ok`; one that was cut short by a third
 * signal ends with 128 and the signal's number, as shells have it.
 */
export const ExitCode = {
  ok: 0,
  /** It did not work: a wrong setting, a port that is taken, a token that does not exist. Standard error says why. */
  failed: 1,
  /** The command line itself is wrong; nothing was tried. */
  usage: 2,
} as const;

const SIGNAL_BASE = 128;

export function exitCodeOfSignal(signalNumber: number): number {
  return SIGNAL_BASE + signalNumber;
}
