import { randomUUID } from 'node:crypto';
import type { Progress } from '@modelcontextprotocol/client';
import { z } from 'zod';

const NOTED = z.object({
  method: z.literal('notifications/progress'),
  params: z.looseObject({
    progressToken: z.string(),
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
});

/** Progress of calls that run as tasks: the client library forgets whose it is when it has the task's id. */
export class TaskProgress {
  private readonly listeners = new Map<string, (progress: Progress) => void>();

  /** @param work gets the token under which the server speaks of this call */
  async during<Result>(
    listener: (progress: Progress) => void,
    work: (token: string) => Promise<Result>,
  ): Promise<Result> {
    const token = randomUUID();
    this.listeners.set(token, listener);
    try {
      return await work(token);
    } finally {
      this.listeners.delete(token);
    }
  }

  /** Looks at every message of the server. */
  note(message: unknown): void {
    if (this.listeners.size === 0 || (message as { method?: unknown }).method !== NOTED.shape.method.value)
      return;
    const noted = NOTED.safeParse(message);
    if (!noted.success) return;
    const { progressToken, progress, total, message: text } = noted.data.params;
    const said = { progress, ...(total === undefined ? {} : { total }) };
    this.listeners.get(progressToken)?.(text === undefined ? said : { ...said, message: text });
  }
}
