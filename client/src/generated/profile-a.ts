// Written by scripts/build-client.mjs from the OpenAPI document; not edited by hand.
export interface paths {
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Newest first; live ones unless `status` asks for others.
         *
         *     Needs the scope `sessions:read`.
         */
        get: operations["sessions_list"];
        put?: never;
        /**
         * Create a session
         * @description Every field may be left out. The channel is `api` unless another is named.
         *
         *     Needs the scope `sessions:write`.
         */
        post: operations["sessions_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a session
         * @description Needs the scope `sessions:read`.
         */
        get: operations["sessions_detail"];
        put?: never;
        post?: never;
        /**
         * End a session
         * @description Its history stays readable. A running answer is cut off and kept as far as it came.
         *
         *     Needs the scope `sessions:write`.
         */
        delete: operations["sessions_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the history
         * @description Oldest first within a page; `before` leads to the pages before. With `Accept: text/event-stream`: the events of the running turn and of every later one, until the reader leaves.
         *
         *     Needs the scope `sessions:read`.
         */
        get: operations["messages_list"];
        put?: never;
        /**
         * Send a message
         * @description Waits for the agent's answer. With `Accept: text/event-stream` the answer comes as events while it is made; with `Prefer: respond-async` it is found in the history later.
         *
         *     Needs the scope `sessions:write`.
         */
        post: operations["messages_send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List channels
         * @description Needs the scope `channels:read`.
         */
        get: operations["channels_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a channel
         * @description Makes a round trip to the platform, within 10 s. A failure is a 200 with `success: false`.
         *
         *     Needs the scope `channels:write`.
         */
        post: operations["channels_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Newest first. Secrets are never shown.
         *
         *     Needs the scope `hooks:read`.
         */
        get: operations["hooks_list"];
        put?: never;
        /**
         * Register a webhook
         * @description Deliveries are signed if a secret is given. At most 1000 webhooks, and `limits.hooks_per_api_token` for each API token.
         *
         *     Needs the scope `hooks:write`.
         */
        post: operations["hooks_register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Its pending deliveries are not sent.
         *
         *     Needs the scope `hooks:write`.
         */
        delete: operations["hooks_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tool servers
         * @description Needs the scope `mcp:read`.
         */
        get: operations["mcp_servers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tools
         * @description All tools of all servers that are connected, under the names that models see.
         *
         *     Needs the scope `mcp:read`.
         */
        get: operations["mcp_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List plugins
         * @description Needs the scope `plugins:read`.
         */
        get: operations["plugins_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{name}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a plugin
         * @description Does nothing when it is enabled already.
         *
         *     Needs the scope `plugins:write`.
         */
        post: operations["plugins_enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{name}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a plugin
         * @description Does nothing when it is disabled already.
         *
         *     Needs the scope `plugins:write`.
         */
        post: operations["plugins_disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List skills
         * @description Needs the scope `skills:read`.
         */
        get: operations["skills_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the health
         * @description For probes.
         *
         *     Needs no token.
         */
        get: operations["status_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe what runs here
         * @description Needs the scope `status:read`.
         */
        get: operations["status_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Scrape the metrics
         * @description In the text exposition format of Prometheus. `gateway.metrics_public` lets it answer without a token.
         *
         *     Needs the scope `metrics:read`.
         */
        get: operations["metrics_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the configuration
         * @description What is in force, with secrets replaced by a marker.
         *
         *     Needs the scope `config:read`.
         */
        get: operations["config_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reload the configuration
         * @description Reads the file and the environment again and applies what changed.
         *
         *     Needs the scope `config:write`.
         */
        post: operations["config_reload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List log entries
         * @description Of all replicas, oldest first; when more match than `limit`, the newest ones.
         *
         *     Needs the scope `logs:read`.
         */
        get: operations["logs_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        CreateSessionRequest: {
            /** @description `api`, which is the default, or a configured channel */
            channel?: string;
            /** @description Defaults to the token's user, else the token's name */
            user_id?: string;
            /** @description The agent that answers, by its name in the settings; without it, `default` */
            agent?: string;
            /** @description Overrides the default system prompt; at most 64 KiB */
            system_prompt?: string;
            /** @description Overrides the default model */
            model?: string;
        };
        CreatedSession: {
            /** @example sess_01jd8v3q5ze0psx2w9t6m4k7ah */
            session_id: string;
            /** Format: date-time */
            created_at: string;
            /** @example api */
            channel: string;
            /** @enum {string} */
            status: "active" | "completed";
        };
        SessionItem: {
            /** @example sess_01jd8v3q5ze0psx2w9t6m4k7ah */
            session_id: string;
            /** Format: date-time */
            created_at: string;
            /** @example api */
            channel: string;
            /** @enum {string} */
            status: "active" | "completed";
            message_count: number;
        };
        SessionList: {
            sessions: components["schemas"]["SessionItem"][];
            /** @description Counts the filter, not the page */
            total: number;
        };
        TokenBudget: {
            /** @description Model tokens per day */
            limit: number;
            /** @description Used since midnight UTC */
            used: number;
            /** Format: date-time */
            resets_at: string;
        };
        SessionDetail: {
            /** @example sess_01jd8v3q5ze0psx2w9t6m4k7ah */
            session_id: string;
            /** Format: date-time */
            created_at: string;
            /** @example api */
            channel: string;
            /** @enum {string} */
            status: "active" | "completed";
            message_count: number;
            /**
             * @description The name of the agent that answers
             * @example support
             */
            agent: string;
            /** @description The model of the session */
            model: string;
            total_tokens: number;
            /** @description Only while a daily budget for sessions is set */
            token_budget?: components["schemas"]["TokenBudget"];
            /**
             * @description Present while the model waits for outputs of tools that the client runs
             * @enum {string}
             */
            pending?: "requires_action";
        };
        ToolCall: {
            id: string;
            name: string;
            arguments: {
                [key: string]: unknown;
            };
            /**
             * @description `pending` is a call that the client has still to make, with a tool of its own
             * @enum {string}
             */
            status: "success" | "error" | "denied" | "timeout" | "pending";
            /** @description Cut at 16 KiB with a mark */
            output: string;
            duration_ms: number;
        };
        Message: {
            /** @example msg_01jd8v3q5ze0psx2w9t6m4k7ah */
            message_id: string;
            /** @enum {string} */
            role: "user" | "assistant";
            content: string;
            tool_calls: components["schemas"]["ToolCall"][];
            tokens_used: number;
            model: string | null;
            /**
             * @description Why the model stopped: `stop` for a whole answer, `length` when it met a limit of tokens, `content_filter` when its provider took the rest away, `refusal` when it declined, `tool_calls` when it asked for more tools than a turn may run. Absent for messages of users, for answers with `incomplete`, and for answers of earlier versions
             * @enum {string}
             */
            finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal";
            /** @description Present and true when `tokens_used` is an estimate, because the provider sent no count */
            usage_estimated?: boolean;
        };
        TokenEvent: {
            /**
             * @description A piece of the answer, as the provider sent it
             * @example The capital
             */
            content: string;
        };
        ReasoningEvent: {
            /**
             * @description A piece of what the model thinks; no part of the answer
             * @example The user asks for the capital.
             */
            content: string;
        };
        ToolCallEvent: {
            /** @description The id of the call */
            id: string;
            /** @example files__read_file */
            name: string;
            arguments: {
                [key: string]: unknown;
            };
        };
        ToolApprovalEvent: {
            /** @description The id of the call */
            id: string;
            /** @example files__write_file */
            name: string;
            /** @description What the decision names */
            approval_id: string;
            /**
             * @description `pending`: the call waits for a person
             * @enum {string}
             */
            status: "pending" | "allowed" | "denied" | "timeout";
            /**
             * Format: date-time
             * @description When it counts as denied
             */
            expires_at: string;
        };
        ToolQuestionEvent: {
            /** @description What the answer names */
            id: string;
            /** @description The id of the call */
            call_id: string;
            /** @example travel__book */
            name: string;
            /** @description Plain text of the tool */
            message: string;
            /** @description A flat JSON Schema of the values asked for */
            schema: {
                [key: string]: unknown;
            };
            /** @description A page that the person is to open; its address is to be shown first */
            url?: string;
            /**
             * @description `pending`: it waits for an answer
             * @enum {string}
             */
            status: "pending" | "accepted" | "declined" | "cancelled" | "timeout";
            /**
             * Format: date-time
             * @description When it counts as declined
             */
            expires_at: string;
        };
        ToolProgressEvent: {
            /** @description The id of the call */
            id: string;
            /** @example maps__render */
            name: string;
            /** @description Grows; of `total` where the tool knows that */
            progress: number;
            total?: number;
            /** @description Plain text of the tool */
            message?: string;
        };
        ToolResultEvent: {
            /** @description The id of the call */
            id: string;
            /** @example files__read_file */
            name: string;
            /** @description Cut at 16 KiB with a mark */
            content: string;
            is_error: boolean;
            duration_ms: number;
        };
        RestartedEvent: {
            attempt: number;
        };
        DoneEvent: {
            /** @example msg_01jd8v3q5ze0psx2w9t6m4k7ah */
            message_id: string;
            content: string;
            tool_calls: components["schemas"]["ToolCall"][];
            tokens_used: number;
            model: string | null;
            /**
             * @description Why the model stopped: `stop` for a whole answer, `length` when it met a limit of tokens, `content_filter` when its provider took the rest away, `refusal` when it declined, `tool_calls` when it asked for more tools than a turn may run. Absent for messages of users, for answers with `incomplete`, and for answers of earlier versions
             * @enum {string}
             */
            finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal";
            /** @description Present and true when `tokens_used` is an estimate, because the provider sent no count */
            usage_estimated?: boolean;
        };
        AttachmentRequest: components["schemas"]["InlineAttachment"] | components["schemas"]["LinkedAttachment"];
        SendMessageRequest: components["schemas"]["TextMessageRequest"] | components["schemas"]["AttachmentMessageRequest"];
        Accepted: {
            /**
             * @description The message that was sent
             * @example msg_01jd8v3q5ze0psx2w9t6m4k7ah
             */
            message_id: string;
        };
        Attachment: {
            id: string;
            /** @enum {string} */
            type: "image" | "file" | "audio" | "video";
            name: string | null;
            mime_type: string;
            size_bytes: number;
        };
        HistoryItem: {
            /** @example msg_01jd8v3q5ze0psx2w9t6m4k7ah */
            message_id: string;
            /** @enum {string} */
            role: "user" | "assistant";
            content: string;
            tool_calls: components["schemas"]["ToolCall"][];
            tokens_used: number;
            model: string | null;
            /**
             * @description Why the model stopped: `stop` for a whole answer, `length` when it met a limit of tokens, `content_filter` when its provider took the rest away, `refusal` when it declined, `tool_calls` when it asked for more tools than a turn may run. Absent for messages of users, for answers with `incomplete`, and for answers of earlier versions
             * @enum {string}
             */
            finish_reason?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal";
            /** @description Present and true when `tokens_used` is an estimate, because the provider sent no count */
            usage_estimated?: boolean;
            /** Format: date-time */
            created_at: string;
            attachments: components["schemas"]["Attachment"][];
            /**
             * @description How the answer was cut off; absent for a whole one
             * @enum {string}
             */
            incomplete?: "cancelled" | "interrupted" | "failed";
        };
        History: {
            /** @description Oldest first */
            messages: components["schemas"]["HistoryItem"][];
            /** @description Whether there are older messages than these */
            has_more: boolean;
        };
        ChannelItem: {
            /** @example api */
            name: string;
            enabled: boolean;
            /** @enum {string} */
            status: "connected" | "disconnected" | "reconnecting";
            active_sessions: number;
        };
        ChannelList: {
            channels: components["schemas"]["ChannelItem"][];
        };
        ChannelTest: {
            name: string;
            success: boolean;
            latency_ms: number;
            error?: string;
        };
        Hook: {
            /** @example hook_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            /** @example https://example.com/agent-events */
            url: string;
            /**
             * @example [
             *       "session.created",
             *       "message.*"
             *     ]
             */
            events: ("session.created" | "session.idle" | "session.completed" | "session.terminated" | "message.received" | "message.sent" | "tool.executed" | "tool.approval_requested" | "tool.approval_decided" | "error.occurred" | "provider.failed_over" | "channel.connected" | "channel.disconnected" | "mcp.connected" | "mcp.disconnected" | "plugin.loaded" | "plugin.disabled" | "budget.warned" | "budget.reached" | "config.updated" | "audit.recorded" | "*" | "session.*" | "message.*" | "tool.*" | "error.*" | "provider.*" | "channel.*" | "mcp.*" | "plugin.*" | "budget.*" | "config.*" | "audit.*")[];
            /** @description False after the receiver responded 410, or after five days of nothing but failures */
            active: boolean;
            /** Format: date-time */
            created_at: string;
        };
        HookList: {
            /** @description Newest first */
            hooks: components["schemas"]["Hook"][];
        };
        RegisterHookRequest: {
            /**
             * Format: uri
             * @description http or https, at a public address, without credentials
             * @example https://example.com/agent-events
             */
            url: string;
            /**
             * @description Event names, `*`, or a pattern such as `session.*`
             * @example [
             *       "session.created",
             *       "message.*"
             *     ]
             */
            events: ("session.created" | "session.idle" | "session.completed" | "session.terminated" | "message.received" | "message.sent" | "tool.executed" | "tool.approval_requested" | "tool.approval_decided" | "error.occurred" | "provider.failed_over" | "channel.connected" | "channel.disconnected" | "mcp.connected" | "mcp.disconnected" | "plugin.loaded" | "plugin.disabled" | "budget.warned" | "budget.reached" | "config.updated" | "audit.recorded" | "*" | "session.*" | "message.*" | "tool.*" | "error.*" | "provider.*" | "channel.*" | "mcp.*" | "plugin.*" | "budget.*" | "config.*" | "audit.*")[];
            /** @description Signs the deliveries; `whsec_` and base64, or any text. Never returned */
            secret?: string;
        };
        McpServerItem: {
            name: string;
            /** @enum {string} */
            status: "running" | "reconnecting" | "disconnected";
            tools: string[];
            /** @description Why it is not connected; present after a failed attempt */
            error?: string;
            /** @description Present when it runs without the sandbox that it should have */
            warning?: string;
        };
        McpServerList: {
            servers: components["schemas"]["McpServerItem"][];
        };
        McpToolItem: {
            /**
             * @description The name that models see
             * @example files__read_file
             */
            name: string;
            server: string;
            tool: string;
            description: string;
            input_schema: {
                [key: string]: unknown;
            };
        };
        McpToolList: {
            tools: components["schemas"]["McpToolItem"][];
            total: number;
        };
        PluginItem: {
            name: string;
            version: string;
            enabled: boolean;
            /** @example tool */
            type: string;
            /** @description Rounded up */
            memory_usage_mb: number;
            /** @description Why it could not be loaded; present only then */
            error?: string;
        };
        PluginList: {
            plugins: components["schemas"]["PluginItem"][];
        };
        SkillItem: {
            name: string;
            description: string;
            tools_required: string[];
        };
        FailedSkill: {
            /**
             * @description Its folder, or a whole folder of skills
             * @example workspace/weekly-report
             */
            folder: string;
            /**
             * @description Why it could not be loaded
             * @example it has no description
             */
            error: string;
        };
        SkillList: {
            skills: components["schemas"]["SkillItem"][];
            /** @description Skills that could not be loaded; present when there are any */
            failed?: components["schemas"]["FailedSkill"][];
        };
        Health: {
            /** @enum {string} */
            status: "healthy" | "degraded" | "unhealthy";
            version: string;
            uptime_secs: number;
        };
        Info: {
            version: string;
            /**
             * Format: date-time
             * @description When this build was made
             */
            build: string;
            /** @example anthropic */
            default_provider: string;
            default_model: string;
            active_sessions: number;
            active_channels: number;
            plugins_loaded: number;
            /** @enum {string} */
            memory_backend: "postgres" | "none";
            /** @enum {string} */
            sandbox_backend: "bubblewrap" | "none";
            /** @description Present when stdio tool servers run without the sandbox they should have */
            sandbox_warning?: string;
        };
        Reloaded: {
            reloaded: boolean;
            /**
             * @description Dotted keys that changed
             * @example [
             *       "agent.max_turns"
             *     ]
             */
            changes: string[];
        };
        LogEntry: {
            /**
             * Format: date-time
             * @description With milliseconds
             */
            timestamp: string;
            /** @enum {string} */
            level: "trace" | "debug" | "info" | "warn" | "error";
            /**
             * @description The part of the gateway that wrote it
             * @example agent
             */
            component: string;
            message: string;
            /** @description Present when it was written for a session */
            session_id?: string;
        };
        LogList: {
            /** @description Oldest first; the newest ones when more match */
            entries: components["schemas"]["LogEntry"][];
            /** @description Counts the filter, not the page */
            total: number;
        };
        TextMessageRequest: {
            /** @description At most 256 KiB; may be empty only with attachments */
            content: string;
            /** @description At most 20 MiB decoded in all */
            attachments?: components["schemas"]["AttachmentRequest"][];
            /** @description How freely the next token is chosen */
            temperature?: number;
            /** @description From which share of likely tokens the next one is chosen */
            top_p?: number;
            /** @description At most `agent.max_output_tokens` */
            max_output_tokens?: number;
            /** @description Whether tools may be called, have to be, or which one has to be in the first call of the model */
            tool_choice?: ("auto" | "none" | "required") | {
                name: string;
            };
            /** @description Texts, each of which ends the answer */
            stop?: string[];
            /** @description The answer is JSON of this schema, of at most 64 KiB and 32 levels; else the turn fails with `response_format_unmet` */
            response_format?: {
                /** @enum {string} */
                type?: "json_schema";
                json_schema?: {
                    name: string;
                    schema: {
                        [key: string]: unknown;
                    };
                    strict?: boolean;
                };
            };
        };
        AttachmentMessageRequest: {
            /** @description At most 256 KiB; may be empty only with attachments */
            content?: string;
            /** @description At most 20 MiB decoded in all */
            attachments: components["schemas"]["AttachmentRequest"][];
            /** @description How freely the next token is chosen */
            temperature?: number;
            /** @description From which share of likely tokens the next one is chosen */
            top_p?: number;
            /** @description At most `agent.max_output_tokens` */
            max_output_tokens?: number;
            /** @description Whether tools may be called, have to be, or which one has to be in the first call of the model */
            tool_choice?: ("auto" | "none" | "required") | {
                name: string;
            };
            /** @description Texts, each of which ends the answer */
            stop?: string[];
            /** @description The answer is JSON of this schema, of at most 64 KiB and 32 levels; else the turn fails with `response_format_unmet` */
            response_format?: {
                /** @enum {string} */
                type?: "json_schema";
                json_schema?: {
                    name: string;
                    schema: {
                        [key: string]: unknown;
                    };
                    strict?: boolean;
                };
            };
        };
        InlineAttachment: {
            /** @enum {string} */
            type: "image" | "file" | "audio" | "video";
            name?: string;
            /** @example image/png */
            mime_type: string;
            /**
             * Format: byte
             * @description The bytes in base64; exactly one of `data` and `url`
             */
            data: string;
        };
        LinkedAttachment: {
            /** @enum {string} */
            type: "image" | "file" | "audio" | "video";
            name?: string;
            /** @example image/png */
            mime_type: string;
            /**
             * Format: uri
             * @description Where to fetch the bytes; exactly one of `data` and `url`
             */
            url: string;
        };
        /** @description Server-Sent Events. The `data` of each is JSON: one of these schemas, in the order of the kinds `token`, `reasoning`, `tool_call`, `tool_approval`, `tool_question`, `tool_progress`, `tool_result`, `restarted`, `done`, `error` (the `event` field). Each event has an `id` to resume after; comments keep the connection in use. */
        TurnEvents: components["schemas"]["TokenEvent"] | components["schemas"]["ReasoningEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ToolApprovalEvent"] | components["schemas"]["ToolQuestionEvent"] | components["schemas"]["ToolProgressEvent"] | components["schemas"]["ToolResultEvent"] | components["schemas"]["RestartedEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEnvelope"] | string;
        ErrorEnvelope: {
            error: {
                /** @enum {string} */
                code: "bad_request" | "unauthorized" | "forbidden" | "not_found" | "conflict" | "rate_limited" | "internal_error";
                /** @description What went wrong and what to do next, for people */
                message: string;
            };
        };
    };
    responses: {
        /** @description The path, a query value, a header or the body is malformed; the message names the field */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_request",
                 *         "message": "limit: must be a whole number from 0 to 9007199254740991"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The access token is missing, malformed, unknown, expired or revoked */
        Unauthorized: {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "unauthorized",
                 *         "message": "An access token is required. Send it as \"Authorization: Bearer <token>\"."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The token lacks a scope, or is bound to another user */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "forbidden",
                 *         "message": "This token lacks the scope \"sessions:write\". Ask for a token that has it."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description What the path names does not exist, or is not for this token to see */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "not_found",
                 *         "message": "There is no such session."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The path does not support this method */
        MethodNotAllowed: {
            headers: {
                Allow: components["headers"]["Allow"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_request",
                 *         "message": "This path answers only to GET, HEAD."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The request did not arrive in time */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_request",
                 *         "message": "The request did not arrive in time."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The state of the resource does not allow it, or the Idempotency-Key belongs to another request or one that still runs */
        Conflict: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "conflict",
                 *         "message": "The session has ended. Create a new one with POST /sessions."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The body is larger than this operation reads */
        BodyTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_request",
                 *         "message": "The body is larger than 1048576 bytes."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The URI is longer than 8,192 bytes */
        UriTooLong: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_request",
                 *         "message": "The URI is longer than 8192 bytes."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The body is not JSON in UTF-8, or is compressed */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_request",
                 *         "message": "The body has to be JSON in UTF-8: send \"Content-Type: application/json\"."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Too many requests; for messages also: a limit on tokens is reached */
        RateLimited: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "rate_limited",
                 *         "message": "Too many requests: this group of endpoints allows 30 per second. Try again in 1 s."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The headers are larger than 16,384 bytes */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_request",
                 *         "message": "The headers are larger than 16384 bytes."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Something unexpected went wrong; the log has it under the request id */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "internal_error",
                 *         "message": "Something unexpected went wrong."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The model provider failed; the message says how */
        ProviderFailed: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "internal_error",
                 *         "message": "The model provider answered with status 500."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The gateway is stopping, its database does not answer, or it serves as many as it can */
        Unavailable: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "internal_error",
                 *         "message": "The database cannot be reached. Try again in 1 s."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The model provider or the whole turn ran out of time */
        ProviderTimedOut: {
            headers: {
                "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "internal_error",
                 *         "message": "The model provider sent nothing for 60 s."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The id of this request in the logs: the one that was sent in this header, else a new one */
        "X-Request-Id": string;
        /** @description Requests per second that this group of endpoints allows, and the size of its bucket */
        "X-RateLimit-Limit": number;
        /** @description Requests that are left in the bucket */
        "X-RateLimit-Remaining": number;
        /** @description The Unix second at which the bucket will be full again */
        "X-RateLimit-Reset": number;
        /** @description Seconds to wait before the request is sent again */
        "Retry-After": number;
        /** @description The challenge: a bearer token */
        "WWW-Authenticate": string;
        /** @description The methods that this path answers to */
        Allow: string;
        /** @description The version of what is answered, for `If-Match` and `If-None-Match` */
        ETag: string;
        /** @description Where the answer will be */
        Location: string;
        /** @description The preference that was honoured */
        "Preference-Applied": "respond-async";
        /** @description `true` when this is the answer of an earlier request with the same Idempotency-Key */
        "Idempotency-Replayed": "true";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    sessions_list: {
        parameters: {
            query?: {
                status?: "active" | "completed" | "all";
                /** @description More than 500 is served as 500 */
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sessions_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateSessionRequest"];
            };
        };
        responses: {
            /** @description The new session */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sessions_detail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session, as it was given when the session was created */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionDetail"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sessions_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session, as it was given when the session was created */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    messages_list: {
        parameters: {
            query?: {
                /** @description More than 500 is served as 500 */
                limit?: number;
                /** @description A message id; the page holds the newest messages before it */
                before?: string;
            };
            header?: {
                /** @description With Accept: text/event-stream, the id of the last event that was seen; events go on after it */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The id of the session, as it was given when the session was created */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the history, oldest first; with Accept: text/event-stream, events */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                    /**
                     * @example retry: 1000
                     *
                     *     id: turn_01jd8v3q5ze0psx2w9t6m4k7ah.31.0
                     *     event: token
                     *     data: {"content":"The capital of France is Paris."}
                     */
                    "text/event-stream": components["schemas"]["TurnEvents"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    messages_send: {
        parameters: {
            query?: never;
            header?: {
                /** @description With Accept: text/event-stream, when the same message is sent again because its stream was cut: the id of the last event that was seen. Its turn goes on after it, and no second one begins. 409 when the event is of another message */
                "Last-Event-ID"?: string;
                /** @description respond-async: answer 202 as soon as the message is stored, also while the session is busy */
                Prefer?: string;
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the session, as it was given when the session was created */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessageRequest"];
            };
        };
        responses: {
            /** @description The agent's answer; with Accept: text/event-stream, events */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                    /**
                     * @example retry: 1000
                     *
                     *     id: turn_01jd8v3q5ze0psx2w9t6m4k7ah.31.0
                     *     event: token
                     *     data: {"content":"The capital of France is Paris."}
                     */
                    "text/event-stream": components["schemas"]["TurnEvents"];
                };
            };
            /** @description With Prefer: respond-async: the message is stored, and its answer will be in the history */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ProviderFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["ProviderTimedOut"];
        };
    };
    channels_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All channels */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    channels_test: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The name of the channel
                 * @example api
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Outcome of the round trip; a failed one is not an error */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelTest"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    hooks_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All webhooks, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    hooks_register: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegisterHookRequest"];
            };
        };
        responses: {
            /** @description The new webhook */
            201: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["BodyTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    hooks_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the webhook, as it was given when the webhook was registered */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is deleted */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    mcp_servers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All tool servers */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    mcp_tools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All tools of all servers */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpToolList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    plugins_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All plugins */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    plugins_enable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The name of the plugin */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plugin */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    plugins_disable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The name of the plugin */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plugin */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    skills_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All skills */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    status_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The gateway is ready */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            /** @description The gateway is not ready: it starts, stops, or its database does not answer */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"] | components["schemas"]["ErrorEnvelope"];
                };
            };
        };
    };
    status_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What runs here */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Info"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    metrics_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics with HELP and TYPE lines */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    config_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The configuration in force; secrets read as the redaction marker */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    config_reload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description File and environment were read again */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reloaded"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    logs_list: {
        parameters: {
            query?: {
                /** @description Minimum level */
                level?: "debug" | "info" | "warn" | "error";
                /** @description More than 500 is served as 500 */
                limit?: number;
                /** @description ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; everything that is kept when left out */
                since?: string;
                /** @description A part of the gateway, such as `agent`; defaults to all */
                component?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Log entries of all replicas, oldest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogList"];
                };
            };
            /** @description The resource still is what `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
