/** Where commands write: results to standard output, remarks about them to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

/** The process's own streams. A reader that closes early (`… | head`) does not fail the command. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  };
}
