import { type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { type Children, failedStart, pidOf } from './children.js';

/** A helper process of a benchmark, which answers questions over its IPC channel. */
export interface Helper<Ready, Question, Answer> {
  readonly pid: number;
  /** What it reported when it was ready. */
  readonly ready: Ready;
  /** Only one question at a time. Rejects with what the helper threw. */
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

export type HelperMessage = { readonly value: unknown } | { readonly error: string };

/** Starts a script that ends with `serveHelper`, and waits until it is ready. */
export async function startHelper<Ready, Question = never, Answer = never>(
  children: Children,
  { script, config, folder }: { script: string; config: object; folder: string },
): Promise<Helper<Ready, Question, Answer>> {
  const logFile = join(folder, 'helpers.log');
  const args = [script, JSON.stringify(config)];
  const child = children.start({ args, environment: {}, logFile, withChannel: true });
  const failed = failedStart(child, logFile);
  failed.catch(() => undefined);
  const next = () => Promise.race([nextMessage(child), failed]);
  const ready = (await next()) as Ready;
  return {
    pid: pidOf(child),
    ready,
    ask: async (question) => {
      child.send(question as object);
      return (await next()) as Answer;
    },
    stop: () => children.stop(child),
  };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: HelperMessage) =>
      'error' in message ? reject(new Error(message.error)) : resolve(message.value),
    );
  });
}
