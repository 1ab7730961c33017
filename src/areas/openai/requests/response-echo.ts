import type { ResponsesBody } from './responses-body.js';

export interface Echo {
  readonly model: string;
  readonly instructions: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tools: readonly unknown[];
  readonly tool_choice: unknown;
  readonly text: unknown;
  readonly temperature: number | null;
  readonly top_p: number | null;
  readonly max_output_tokens: number | null;
  readonly background: boolean;
  readonly store: boolean;
  readonly previous_response_id: string | null;
  readonly user: string | null;
  /** Responses that were stored earlier have none of these. */
  readonly parallel_tool_calls?: boolean;
  readonly prompt_cache_key?: string | null;
  readonly safety_identifier?: string | null;
}

export function echoOf(body: ResponsesBody): Echo {
  return {
    model: body.model,
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? {},
    tools: body.tools ?? [],
    tool_choice: body.tool_choice ?? 'auto',
    text: { format: body.text?.format ?? { type: 'text' }, verbosity: 'medium' },
    temperature: body.temperature ?? null,
    top_p: body.top_p ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    background: body.background ?? false,
    store: body.store ?? true,
    previous_response_id: body.previous_response_id ?? null,
    user: body.user ?? null,
    ...hintsOf(body),
  };
}

function hintsOf(
  body: ResponsesBody,
): Pick<Echo, 'parallel_tool_calls' | 'prompt_cache_key' | 'safety_identifier'> {
  return {
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    prompt_cache_key: body.prompt_cache_key ?? null,
    safety_identifier: body.safety_identifier ?? null,
  };
}
