import { constants } from 'node:os';
import type { Logger } from '../../platform/logging/logger.js';
import { ExitCode, exitCodeOfSignal } from '../exit-codes.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** npm passes on the Ctrl-C that the terminal has sent to us too: one wish, two signals. */
const ECHO_MS = 300;
/** After a fault nothing is sure any more, the end of the drain neither. */
const FAULT_LIMIT_MS = 10_000;

/** What is heard and ended of a process. */
export type StoppableProcess = Pick<NodeJS.Process, 'on' | 'exit'>;

/**
 * Hears what asks this process to stop. The first signal asks for it, the second to hurry, the third ends the process.
 * An error that nobody caught is logged with its stack and asks for both.
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
    process.on('uncaughtException', (error) => requests.onFault('an error that nobody caught', error));
    process.on('unhandledRejection', (reason) => requests.onFault('a rejection that nobody handled', reason));
    return requests;
  }

  /** Fires when the gateway shall stop. */
  get stop(): AbortSignal {
    return this.stopping.signal;
  }

  /** Fires when it shall not wait for what still runs. */
  get hurry(): AbortSignal {
    return this.hurrying.signal;
  }

  /** Somebody pressed Ctrl-C: no balancer has to notice. */
  get isFromTerminal(): boolean {
    return this.firstSignal === 'SIGINT';
  }

  /** Somebody asked: Ctrl-C ends the programs of a start too, which then fails for no other reason. */
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
  1: 'asked to stop: what runs is finished first; a second signal interrupts it',
  2: 'asked again: what runs is interrupted; a third signal ends the process at once',
  3: 'asked a third time: the process ends now',
} as const;
