/** What a tool wants to know while it runs. */
export interface ToolQuestion {
  /** Plain text, at most 4,096 characters. */
  readonly message: string;
  /** The values asked for: a flat JSON Schema; without properties only a yes. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** A page that the person is to open instead of answering here. */
  readonly url?: string;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs: number;
}

export const QUESTION_ACTIONS = ['accept', 'decline', 'cancel'] as const;

/** `decline` is a no; `cancel` is neither yes nor no, as when somebody closes a window. */
export type QuestionAction = (typeof QUESTION_ACTIONS)[number];

export interface QuestionAnswer {
  readonly action: QuestionAction;
  /** Only with `accept`. */
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

/** How a question ended: with an answer, or because its time was over. */
export interface QuestionOutcome extends QuestionAnswer {
  readonly isTimeout?: true;
}

/** A question as people see it, from when it is asked until an hour after it was answered; the answer is not kept. */
export interface QuestionRecord extends Omit<ToolQuestion, 'timeoutMs'> {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly channel: string;
  readonly userId: string;
  /** The user for whom the tool acts. */
  readonly actsFor: string | null;
  readonly askedAt: Date;
  readonly expiresAt: Date;
  readonly status: QuestionStatus;
  /** The audit's name for them; null while it waits, as is the next field. */
  readonly answeredBy: string | null;
  readonly answeredAt: Date | null;
}

export const QUESTION_STATUSES = ['pending', 'accepted', 'declined', 'cancelled'] as const;

export type QuestionStatus = (typeof QUESTION_STATUSES)[number];

export const STATUS_OF = {
  accept: 'accepted',
  decline: 'declined',
  cancel: 'cancelled',
} as const satisfies Record<QuestionAction, QuestionStatus>;
