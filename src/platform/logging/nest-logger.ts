import type { LoggerService } from '@nestjs/common';
import type { Logs } from './logger.js';

/** Nest's own log lines, under module `nest::<context>`: info at debug, warnings and errors at their level. */
export class NestLogger implements LoggerService {
  constructor(private readonly logs: Logs) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.to(rest).debug(String(message));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.to(rest).debug(String(message));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.to(rest).trace(String(message));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.to(rest).warn(String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    const [stack] = rest;
    this.to(rest).error(
      String(message),
      typeof stack === 'string' && rest.length > 1 ? { stack } : undefined,
    );
  }

  private to(rest: unknown[]) {
    const context = rest.at(-1);
    return this.logs.for(typeof context === 'string' ? `nest::${context}` : 'nest');
  }
}
