export type LogFields = Readonly<Record<string, unknown>>;

/** Writes log lines of one module, such as `agent::turn`. Fields are data beside the sentence, never headers or bodies. */
export interface Logger {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Hands out one logger per module; module names are `area::part`. */
export abstract class Logs {
  abstract for(module: string): Logger;
}
