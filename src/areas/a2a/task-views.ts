import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { LiveEvent, TurnResult } from '../turns/turns.api.js';

/** A turn as other agents see it: a task. Its session is the context. */
export interface TaskFacts {
  readonly taskId: string;
  readonly contextId: string;
  readonly status: TurnResult['status'];
  /** What was said; of a turn that did not complete, what it had said. */
  readonly content: string | null;
  /** Why there is no whole answer. */
  readonly problem: string | null;
  readonly at: Date;
}

const STATES = {
  waiting: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  // A person on this side decides; the other agent can do nothing.
  awaiting_approval: TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  cancelled: TaskState.TASK_STATE_CANCELED,
  failed: TaskState.TASK_STATE_FAILED,
  interrupted: TaskState.TASK_STATE_FAILED,
} as const satisfies Record<TurnResult['status'], TaskState>;

export function isOver({ status }: TaskFacts): boolean {
  return status !== 'waiting' && STATES[status] !== TaskState.TASK_STATE_WORKING;
}

export function presentTask(facts: TaskFacts): Task {
  const { taskId: id, contextId, content } = facts;
  const artifacts = content === null || content === '' ? [] : [answerOf(content)];
  return { id, contextId, status: statusOf(facts), artifacts, history: [], metadata: undefined };
}

export function presentStatus(facts: TaskFacts): StreamResponse {
  const { taskId, contextId } = facts;
  const value = { taskId, contextId, status: statusOf(facts), metadata: undefined };
  return { payload: { $case: 'statusUpdate', value } };
}

/**
 * A piece of the answer.
 * @param append whether it continues what was shown, instead of replacing it
 */
export function presentPiece(
  { taskId, contextId }: Pick<TaskFacts, 'taskId' | 'contextId'>,
  text: string,
  append: boolean,
): StreamResponse {
  const artifact = answerOf(text);
  const value = { taskId, contextId, artifact, append, lastChunk: false, metadata: undefined };
  return { payload: { $case: 'artifactUpdate', value } };
}

/** What a turn does besides speaking; undefined for what other agents do not see. */
export function doingOf(event: LiveEvent): string | undefined {
  if (event.type === 'tool_call') return `Calls ${event.name}.`;
  if (event.type === 'tool_approval' && event.approval.status === 'pending')
    return `Waits until somebody allows ${event.approval.tool}.`;
  return undefined;
}

function statusOf({ taskId, contextId, status, problem, at }: TaskFacts): TaskStatus {
  const said = problem === null ? undefined : agentMessage(taskId, contextId, problem);
  return { state: STATES[status], message: said, timestamp: at.toISOString() };
}

function agentMessage(taskId: string, contextId: string, text: string): Message {
  return {
    ...{ messageId: `${taskId}-status`, contextId, taskId, role: Role.ROLE_AGENT, parts: [textPart(text)] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
}

function answerOf(text: string): Artifact {
  return {
    ...{ artifactId: 'answer', name: 'answer', description: '', parts: [textPart(text)] },
    ...{ metadata: undefined, extensions: [] },
  };
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}
