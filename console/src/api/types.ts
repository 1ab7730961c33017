/** The gateway's answers: the fields that the console reads (docs/admin.openapi.json, docs/profile-*.openapi.json). */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

export interface Me {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly user_id: string | null;
  readonly agents: readonly string[] | null;
  readonly profile: 'a' | 'b';
  readonly version: string;
}

export interface Overview {
  readonly since: string;
  readonly until: string;
  readonly bucket_secs: number;
  readonly health: {
    readonly status: 'healthy' | 'degraded' | 'unhealthy';
    readonly version: string;
    readonly uptime_secs: number;
    readonly parts: readonly {
      readonly name: string;
      readonly status: 'ok' | 'warning' | 'failing';
      readonly detail: string;
      readonly advice: string | null;
    }[];
  };
  readonly now: {
    readonly sessions_active: number;
    readonly sessions_live: number;
    readonly turns_running: number;
    readonly turns_waiting: number;
    readonly approvals_pending: number;
  };
  readonly totals: SeriesFigures;
  readonly series: readonly (SeriesFigures & { readonly at: string })[];
  readonly attention: readonly {
    readonly kind: string;
    readonly name: string;
    readonly text: string;
    readonly since: string | null;
    readonly count: number;
  }[];
}

interface SeriesFigures {
  readonly turns: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
}

export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly channel: string;
  readonly agent: string;
  readonly model: string | null;
  readonly status: 'active' | 'idle' | 'terminated';
  readonly running: boolean;
  readonly created_at: string;
  readonly last_activity: string;
  readonly message_count: number;
  readonly turn_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface SessionDetail extends Session {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly system_prompt: string | null;
  readonly ended_at: string | null;
  readonly running_turn_id: string | null;
  readonly turns_waiting: number;
  readonly cost_usd: number | null;
}

export interface Turn {
  readonly id: string;
  readonly session_id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly model: string | null;
  readonly attempts: number;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly status: 'success' | 'error' | 'denied' | 'timeout';
  readonly output: string;
  readonly duration_ms: number;
}

export interface Message {
  readonly message_id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly created_at: string;
  readonly tool_calls: readonly ToolCall[];
  readonly tokens_used: number;
  readonly model: string | null;
  readonly finish_reason?: string;
  readonly incomplete?: 'cancelled' | 'interrupted' | 'failed';
  readonly attachments: readonly {
    readonly id: string;
    readonly type: string;
    readonly name: string | null;
    readonly size_bytes: number;
  }[];
}

export interface History {
  readonly messages: readonly Message[];
  readonly has_more: boolean;
}

export interface Approval {
  readonly id: string;
  readonly status: 'pending' | 'allowed' | 'denied';
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly session_id: string;
  readonly channel: string;
  readonly user_id: string;
  readonly asked_at: string;
  readonly expires_at: string;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly reason: string | null;
}

export interface AgentModel {
  readonly name: string;
  readonly status: 'ok' | 'cooling';
  readonly reason: string | null;
}

export interface Agent {
  readonly name: string;
  readonly description: string;
  readonly models: readonly AgentModel[];
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly skills: readonly string[];
  readonly memory: boolean;
  readonly users: readonly string[];
  readonly sessions: number;
  readonly spent_today_usd: number | null;
}

export interface UsageRow {
  readonly day?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly api_token?: string;
  readonly model?: string;
  readonly channel?: string;
  readonly turns: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_usd: number | null;
  readonly unpriced_tokens: number;
}

export interface AuditRow {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly subject: string;
  readonly result: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Channel {
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly status: 'connected' | 'disconnected' | 'reconnecting';
  readonly connected_at: string | null;
  readonly error: string | null;
  readonly active_sessions: number;
}

export interface Hook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  readonly inactive_reason: string | null;
  readonly failing_since: string | null;
  readonly waiting: number;
  readonly created_at: string;
}

export interface Delivery {
  readonly id: string;
  readonly hook_id: string;
  readonly event_id: string;
  readonly event: string;
  readonly sequence: number | null;
  readonly status: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly last_attempt_at: string | null;
  readonly next_attempt_at: string | null;
  readonly data?: unknown;
}

export interface ToolServer {
  readonly name: string;
  readonly transport: string;
  readonly status: 'connected' | 'reconnecting' | 'disconnected';
  readonly connected_at: string | null;
  readonly error: string | null;
  readonly warning: string | null;
  readonly tools: readonly string[];
  readonly connections: { readonly busy: number; readonly idle: number };
  readonly sign_in: 'none' | 'needed' | 'signed_in';
  readonly signed_in_by: string | null;
  readonly signed_in_at: string | null;
}

export interface ServerTool {
  readonly server: string;
  readonly tool: string;
  readonly state: 'approved' | 'quarantined';
  readonly first_seen_at: string;
  readonly changed_at: string | null;
  readonly definition: unknown;
  readonly pending: unknown;
  readonly fingerprint: string | null;
}

export interface ConfigChange {
  readonly revision: string;
  readonly action: string;
  readonly actor: string;
  readonly changed_at: string;
  readonly edits: readonly { readonly key: string; readonly before: unknown; readonly after: unknown }[];
}

/** For both profiles; each has some of the optional fields. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly status?: 'loaded' | 'disabled' | 'failed';
  readonly enabled?: boolean;
  readonly capabilities?: readonly string[];
  readonly type?: string;
  readonly memory_usage_bytes?: number;
  readonly memory_usage_mb?: number;
  readonly error?: string;
}

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly source?: string;
  readonly triggers?: readonly string[];
  readonly tools_required?: readonly string[];
}

export interface LogEntry {
  readonly timestamp: string;
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly module?: string;
  readonly component?: string;
  readonly message: string;
  readonly session_id?: string;
}

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly user_id: string | null;
  readonly agents: readonly string[] | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}
