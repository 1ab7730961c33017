/** The session that an event is about; part of every event that has one. */
export interface SessionFacts {
  readonly session_id: string;
  readonly channel: string;
  readonly user_id: string;
}

interface TurnFacts extends SessionFacts {
  readonly turn_id: string;
}

interface MessageFacts extends TurnFacts {
  readonly message_id: string;
  /** The text, when `hooks.include_content` is set. */
  readonly content?: string;
}

/** A tool call that a person has to allow; its arguments are at `/admin/v1/approvals`. */
interface ApprovalFacts extends SessionFacts {
  /** Absent for a call without a turn. */
  readonly turn_id?: string;
  readonly approval_id: string;
  readonly tool_call_id: string;
  readonly name: string;
}

interface ErrorFacts {
  /** What failed. */
  readonly source: 'turn' | 'hook' | 'channel' | 'mcp' | 'plugin';
  /** A fixed word, such as `provider_idle_timeout`. */
  readonly reason: string;
  readonly session_id?: string;
  readonly turn_id?: string;
  readonly hook_id?: string;
  /** The channel, server or plugin. */
  readonly name?: string;
}

/** A model failed before it had answered anything, and the next one of the agent's chain was asked. */
interface FailoverFacts {
  readonly provider: string;
  readonly model: string;
  /** Why it failed: a fixed word, such as `provider_unreachable`. */
  readonly reason: string;
  readonly next_provider: string;
  readonly next_model: string;
  readonly agent: string;
  readonly session_id: string;
  readonly turn_id: string;
}

interface NamedFacts {
  readonly name: string;
}

/** Why a connection is gone, redacted. */
interface LostFacts extends NamedFacts {
  readonly error?: string;
}

/** A row of the audit, once it is sealed; `*` leaves it out. */
interface AuditFacts {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly subject: string;
  readonly result: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A budget of `[limits]`, in one day or month of UTC. */
interface BudgetFacts {
  readonly scope: 'all' | 'users' | 'api_tokens' | 'agents';
  /** The user, API token or agent; absent for `all`. */
  readonly name?: string;
  readonly period: 'day' | 'month';
  readonly starts_on: string;
  readonly resets_at: string;
  readonly limit_usd: number;
  readonly spent_usd: number;
}

/**
 * Every event that a hook can subscribe to, with its payload (docs/specification/silences.md, Webhooks). Version 1 only
 * ever gains fields and events.
 */
export interface EventPayloads {
  'session.created': SessionFacts;
  'session.idle': SessionFacts;
  /** Also under the name `session.completed`, for hooks that subscribed to that one only. */
  'session.terminated': SessionFacts & { readonly reason: 'deleted' | 'timeout' };
  'message.received': MessageFacts & { readonly attachments: number };
  'message.sent': MessageFacts & {
    readonly model: string;
    readonly tokens_used: number;
    readonly tool_calls: number;
    /** Why the model stopped: `stop`, `tool_calls`, `length`, `content_filter` or `refusal`. */
    readonly finish_reason: string;
  };
  'tool.executed': TurnFacts & {
    readonly tool_call_id: string;
    readonly name: string;
    readonly status: 'success' | 'error' | 'denied' | 'timeout';
    readonly duration_ms: number;
  };
  /** A call waits for a person. */
  'tool.approval_requested': ApprovalFacts & { readonly expires_at: string };
  /** The first decision, which is the one that counts. */
  'tool.approval_decided': ApprovalFacts & {
    readonly status: 'allowed' | 'denied';
    /** The name that the audit has for them. */
    readonly decided_by: string;
    readonly reason?: string;
  };
  'error.occurred': ErrorFacts;
  'provider.failed_over': FailoverFacts;
  'channel.connected': NamedFacts;
  'channel.disconnected': LostFacts;
  'mcp.connected': NamedFacts;
  'mcp.disconnected': LostFacts;
  'plugin.loaded': NamedFacts & { readonly version: string };
  'plugin.disabled': NamedFacts & { readonly version: string };
  /** Once for each budget and period. */
  'budget.warned': BudgetFacts;
  'budget.reached': BudgetFacts;
  'config.updated': { readonly keys: readonly string[]; readonly reload_required: boolean };
  'audit.recorded': AuditFacts;
}

export type EmittedName = keyof EventPayloads;
export type EventName = EmittedName | 'session.completed';

/** An event as an area emits it. */
export type GatewayEvent = {
  [Name in EmittedName]: {
    readonly name: Name;
    /**
     * Whose session it is about; null when it belongs to no user. Hooks that are bound to a user get only that user's
     * events.
     */
    readonly userId: string | null;
    readonly data: EventPayloads[Name];
  };
}[EmittedName];

const NAMES: Readonly<Record<EventName, true>> = {
  'session.created': true,
  'session.idle': true,
  'session.completed': true,
  'session.terminated': true,
  'message.received': true,
  'message.sent': true,
  'tool.executed': true,
  'tool.approval_requested': true,
  'tool.approval_decided': true,
  'error.occurred': true,
  'provider.failed_over': true,
  'channel.connected': true,
  'channel.disconnected': true,
  'mcp.connected': true,
  'mcp.disconnected': true,
  'plugin.loaded': true,
  'plugin.disabled': true,
  'budget.warned': true,
  'budget.reached': true,
  'config.updated': true,
  'audit.recorded': true,
};

export const EVENT_NAMES = Object.keys(NAMES) as readonly EventName[];

/** What a hook can subscribe to besides single names: everything except the audit, or everything of an area. */
const EVENT_PATTERNS: readonly string[] = [
  '*',
  ...new Set(EVENT_NAMES.map((name) => `${name.slice(0, name.indexOf('.'))}.*`)),
];

/** Everything that a hook can subscribe to. */
export const SUBSCRIBABLE: readonly string[] = [...EVENT_NAMES, ...EVENT_PATTERNS];
const KNOWN: ReadonlySet<string> = new Set(SUBSCRIBABLE);

export function isSubscribable(text: string): boolean {
  return KNOWN.has(text);
}
