import { constants } from 'node:os';
import type { Logger } from '../../platform/logging/logger.js';
import { ExitCode, exitCodeOfSignal } from '../exit-codes.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** npm forwards the Ctrl-C that the terminal has also sent to us: one request, two signals. */
const ECHO_MS = 300;
/** After a fault nothing is certain, not even that the drain ends. */
const FAULT_LIMIT_MS = 10_000;

/** The parts of a process that `StopRequests` uses. */
export type StoppableProcess = Pick<NodeJS.Process, 'on' | 'exit'>;

/**
 * Turns signals into requests to stop: the first asks to stop, the second to hurry, the third ends the process.
 * An uncaught error is logged with its stack and asks for both.
 */
export class StopRequests {
  private readonly stopping = new AbortController();
  private readonly hurrying = new AbortController();
  private signals = 0;
  private lastSignalAt = Number.NEGATIVE_INFINITY;
  private faulty = false;
  private firstSignal: (typeof SIGNALS)[number] | undefined;

  private constructor(
    private readonly logger: Logger,
    private readonly exit: (code: number) => void,
  ) {}

  static listen(logger: Logger, process: StoppableProcess): StopRequests {
    const requests = new StopRequests(logger, (code) => process.exit(code));
    for (const signal of SIGNALS) process.on(signal, () => requests.onSignal(signal));
    process.on('uncaughtException', (error) => requests.onFault('an uncaught error', error));
    process.on('unhandledRejection', (reason) => requests.onFault('an unhandled rejection', reason));
    return requests;
  }

  /** Fires when the gateway is to stop. */
  get stop(): AbortSignal {
    return this.stopping.signal;
  }

  /** Fires when it is to interrupt what still runs. */
  get hurry(): AbortSignal {
    return this.hurrying.signal;
  }

  /** Ctrl-C at a terminal: there is no load balancer to wait for. */
  get isFromTerminal(): boolean {
    return this.firstSignal === 'SIGINT';
  }

  /** A signal came before any fault: Ctrl-C also ends child processes of a start, which then fails for that reason alone. */
  get wasAsked(): boolean {
    return this.firstSignal !== undefined && !this.faulty;
  }

  get hadFault(): boolean {
    return this.faulty;
  }

  private onSignal(signal: (typeof SIGNALS)[number]): void {
    const now = performance.now();
    if (now - this.lastSignalAt < ECHO_MS) return;
    this.lastSignalAt = now;
    this.signals += 1;
    this.firstSignal ??= signal;
    this.logger.info(SIGNAL_LABELS[Math.min(this.signals, 3) as 1 | 2 | 3], { signal });
    if (this.signals > 2) this.exit(exitCodeOfSignal(constants.signals[signal]));
    (this.signals === 1 ? this.stopping : this.hurrying).abort();
  }

  private onFault(what: string, fault: unknown): void {
    const stack = fault instanceof Error ? fault.stack : String(fault);
    this.logger.error(`the gateway stops because of ${what}`, { stack });
    this.faulty = true;
    this.stopping.abort();
    this.hurrying.abort();
    setTimeout(() => this.exit(ExitCode.failed), FAULT_LIMIT_MS).unref();
  }
}

const SIGNAL_LABELS = {
  1: 'asked to stop: running work is finished first; a second signal interrupts it',
  2: 'asked again: running work is interrupted; a third signal ends the process at once',
  3: 'asked a third time: the process ends now',
} as const;
