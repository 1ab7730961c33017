/** Where commands write: results to standard output, everything said about them to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

/** The process's own. A reader that went away (`… | head`) is no reason to fail. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  };
}
