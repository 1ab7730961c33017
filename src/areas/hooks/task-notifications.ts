import { Injectable } from '@nestjs/common';

/** The event name of notifications about a task; nobody subscribes to it. Also in the function `tell_of_task`. */
export const TASK_EVENT = 'a2a.task';

/** A task has a new state. */
export interface TaskChange {
  readonly turnId: string;
  readonly sessionId: string;
  /** The status of the turn. */
  readonly status: string;
  readonly at: Date;
}

/** What is sent: a body, and headers in addition to those of all deliveries. */
export interface TaskNotification {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @param secret the receiver's credentials */
type Writer = (change: TaskChange, secret: string | undefined) => Promise<TaskNotification>;

/**
 * Writes the notifications about tasks in the format of the face that registered them, which sets its writer at the
 * start.
 */
@Injectable()
export class TaskNotifications {
  private writer: Writer | undefined;

  /** Only one face notifies its callers of tasks. */
  writtenBy(writer: Writer): void {
    this.writer = writer;
  }

  /** Throws what reading the task throws; the delivery is then tried again. */
  of(change: TaskChange, secret: string | undefined): Promise<TaskNotification> {
    if (this.writer === undefined) throw new Error('No face writes the notifications about tasks.');
    return this.writer(change, secret);
  }
}

/** @param data of an event, as `tell_of_task` wrote it */
export function taskChange(data: string): Omit<TaskChange, 'at'> {
  const { session_id, turn_id, status } = JSON.parse(data) as {
    session_id: string;
    turn_id: string;
    status: string;
  };
  return { sessionId: session_id, turnId: turn_id, status };
}
