import { Injectable } from '@nestjs/common';

/** The name of a delivery that tells of a task; nobody subscribes to it. Also in the function `tell_of_task`. */
export const TASK_EVENT = 'a2a.task';

/** A task came to a state. */
export interface TaskMoved {
  readonly turnId: string;
  readonly sessionId: string;
  /** The status of the turn. */
  readonly status: string;
  readonly at: Date;
}

/** What is sent: a body, and headers beside those of all deliveries. */
export interface TaskSaid {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @param secret what the one who is told gave for it */
type Speaker = (moved: TaskMoved, secret: string | undefined) => Promise<TaskSaid>;

/** How tasks are told of: in the words of the face that they came by, which it adds at the start. */
@Injectable()
export class TaskWords {
  private speaker: Speaker | undefined;

  /** There is one face whose callers are told of tasks. */
  spokenBy(speaker: Speaker): void {
    this.speaker = speaker;
  }

  /** Throws what reading the task throws; the delivery is then tried again. */
  of(moved: TaskMoved, secret: string | undefined): Promise<TaskSaid> {
    if (this.speaker === undefined) throw new Error('No face says how tasks are told of.');
    return this.speaker(moved, secret);
  }
}

/** @param data of an event, as `tell_of_task` wrote it */
export function taskMoved(data: string): Omit<TaskMoved, 'at'> {
  const told = JSON.parse(data) as { session_id: string; turn_id: string; status: string };
  return { sessionId: told.session_id, turnId: told.turn_id, status: told.status };
}
