// Written by scripts/build-client.mjs from the OpenAPI document; not edited by hand.
export interface paths {
    "/admin/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description By name, with the health of their models as this replica knows it.
         *
         *     Needs the scope `agents:read`.
         */
        get: operations["agents_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/agents/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the models of agents
         * @description One token of each model, at the expense of its provider: who answers, how soon, what it cost, and why not.
         *
         *     Needs the scope `sessions:write`.
         */
        post: operations["agents_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tool calls that wait for a person
         * @description Newest first, over all sessions that the token sees.
         *
         *     Needs the scope `approvals:read`.
         */
        get: operations["approvals_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/approvals/{id}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide whether a tool call may run
         * @description The first decision counts, on whichever replica; the second is 409 with the reason `already_decided` and who was first.
         *
         *     Needs the scope `approvals:write`.
         */
        post: operations["approvals_decide"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit
         * @description Who did what, from where, newest first. Reading it is audited, too.
         *
         *     Needs the scope `audit:read`.
         */
        get: operations["audit_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List channels
         * @description By name, the same on every replica.
         *
         *     Needs the scope `channels:read`.
         */
        get: operations["adminchannels_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{name}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart a channel
         * @description Answers at once, while the channel reconnects.
         *
         *     Needs the scope `channels:write`.
         */
        post: operations["adminchannels_restart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/config/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes of the configuration
         * @description Those made at run time, newest first; secrets are never shown.
         *
         *     Needs the scope `config:read`.
         */
        get: operations["confighistory_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/config/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the configuration back
         * @description Those made at run time, as a new change; every replica has it within 1.5 s. Keys that decide who may do what need the scope security:write.
         *
         *     Needs the scope `config:write`.
         */
        post: operations["confighistory_rollBack"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description Newest first, without what is delivered.
         *
         *     Needs the scope `hooks:read`.
         */
        get: operations["deliveries_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a delivery
         * @description With what is delivered, for tokens that may read what it is about.
         *
         *     Needs the scope `hooks:read`.
         */
        get: operations["deliveries_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery once more
         * @description The same bytes; a webhook that was given up becomes active again.
         *
         *     Needs the scope `hooks:write`.
         */
        post: operations["deliveries_redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/hooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Newest first, with how they do; secrets are never shown.
         *
         *     Needs the scope `hooks:read`.
         */
        get: operations["adminhooks_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/mcp/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tool servers
         * @description By name, as the replica that answers sees them.
         *
         *     Needs the scope `mcp:read`.
         */
        get: operations["adminmcp_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/mcp/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tools that servers ever offered
         * @description By server and name, with what changed in those in quarantine.
         *
         *     Needs the scope `mcp:read`.
         */
        get: operations["adminmcp_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/mcp/servers/{name}/reconnect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reconnect a tool server
         * @description Answers at once; the server reconnects in the background, on this replica.
         *
         *     Needs the scope `mcp:write`.
         */
        post: operations["adminmcp_reconnect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/mcp/servers/{name}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable changed tools
         * @description As they are now, or as they were looked at: then with `fingerprint`.
         *
         *     Needs the scope `mcp:write`.
         */
        post: operations["adminmcp_approve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/mcp/servers/{name}/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link to sign in to a tool server
         * @description Answers with the page at which a person signs in, with a browser, within ten minutes. All calls of the gateway to that server then have that person's rights. A link takes the place of an earlier one; the tokens of an earlier sign-in stay until it is used.
         *
         *     Needs the scope `security:write`.
         */
        post: operations["adminmcp_signIn"];
        /**
         * End the sign-in to a tool server
         * @description Forgets the tokens on all replicas, and revokes them where the authorization server lets them be revoked.
         *
         *     Needs the scope `security:write`.
         */
        delete: operations["adminmcp_signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the overview
         * @description How each part does, turns and spend over time in at most 120 pieces, and what needs a person. At most two seconds old. Cost takes `usage:read`, and what fails or needs a person the `read` of its area: without it that is left out.
         *
         *     Needs the scope `status:read`.
         */
        get: operations["overview_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what tools ask people
         * @description Newest first, over all sessions that the token sees.
         *
         *     Needs the scope `sessions:read`.
         */
        get: operations["questions_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/questions/{id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer what a tool asks
         * @description The first answer counts, on whichever replica; the second is 409 with the reason `already_answered`.
         *
         *     Needs the scope `sessions:write`.
         */
        post: operations["questions_answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/console/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a token with a sign-in link
         * @description Exchanges the code of the link that the gateway's start prints for a token of twelve hours: once, within ten minutes, and only from the machine of the gateway. The code is in a header, so that nothing of a stranger is parsed.
         *
         *     Needs no token.
         */
        post: operations["signin_exchange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what this token may do
         * @description Its name, scopes, user and agents; any valid token may ask.
         *
         *     Needs any token that is valid.
         */
        get: operations["me_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Newest first, not counted. Callers bound to a user see their own, tokens of some agents those of their agents.
         *
         *     Needs the scope `sessions:read`.
         */
        get: operations["adminsessions_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a session
         * @description With what its turns used and cost, and which of them runs.
         *
         *     Needs the scope `sessions:read`.
         */
        get: operations["adminsessions_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API tokens
         * @description Newest first, revoked ones too; never a token itself.
         *
         *     Needs the scope `tokens:read`.
         */
        get: operations["tokens_list"];
        put?: never;
        /**
         * Create an API token
         * @description Nobody gives more than they hold: a token with scopes, a user, an end or tools beyond those of your own is 403. The token itself is in this answer and nowhere else.
         *
         *     Needs the scope `tokens:write`.
         */
        post: operations["tokens_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tokens/{id}": {
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
         * Revoke an API token
         * @description Every replica refuses it within 1.5 s, and what it made ends: webhooks, waiting messages, streams and running turns.
         *
         *     Needs the scope `tokens:write`.
         */
        delete: operations["tokens_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tokens/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API token
         * @description A new token with the same name, scopes and user takes over what the old one made. Nobody gives more than they hold: a token with scopes, a user, an end or tools beyond those of your own is 403. The token itself is in this answer and nowhere else.
         *
         *     Needs the scope `tokens:write`.
         */
        post: operations["tokens_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List turns
         * @description Newest first. Callers bound to a user see their own, tokens of some agents those of their agents.
         *
         *     Needs the scope `sessions:read`.
         */
        get: operations["adminturns_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/turns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a turn
         * @description With its calls of models and tools: how each went, how long it took, what it cost.
         *
         *     Needs the scope `sessions:read`.
         */
        get: operations["adminturns_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/turns/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a turn
         * @description It ends within a second, whichever replica runs it; what it has said stays in the history.
         *
         *     Needs the scope `sessions:write`.
         */
        post: operations["adminturns_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show usage
         * @description Sums of what turns used and cost, by the dimensions in `by`; callers bound to a user, or for some agents, see theirs.
         *
         *     Needs the scope `usage:read`.
         */
        get: operations["usage_list"];
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
        AgentModel: {
            /** @example main/claude-sonnet-5 */
            name: string;
            /**
             * @description `cooling`: it failed lately and is passed over
             * @enum {string}
             */
            status: "ok" | "cooling";
            /**
             * @description Why it failed
             * @example provider_unreachable
             */
            reason: string | null;
        };
        AgentTools: {
            allow: string[];
            deny: string[];
        };
        Agent: {
            /** @example support */
            name: string;
            description: string;
            /** @description In the order in which they are asked */
            models: components["schemas"]["AgentModel"][];
            tools: components["schemas"]["AgentTools"];
            /** @description Patterns of names */
            skills: string[];
            memory: boolean;
            /** @description Ids of users, `role:<name>`, or `*` */
            users: string[];
            /**
             * @description What it names that is not there, as the replica that answers sees it: patterns of tools, skills
             * @example [
             *       "tools.allow: \"cmr__*\" matches no tool."
             *     ]
             */
            warnings: string[];
            /** @description Live sessions */
            sessions: number;
            /** @description US dollars since midnight UTC; null when something was used and nothing of it is priced */
            spent_today_usd: number | null;
        };
        AgentPage: {
            /** @description By name */
            items: components["schemas"]["Agent"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        CheckAgentsRequest: {
            /** @description Names of agents; all that the token may use unless given */
            agents?: string[];
        };
        ModelCheck: {
            /** @example main/claude-sonnet-5 */
            name: string;
            /**
             * @description `not_asked`: there was no time left for it
             * @enum {string}
             */
            status: "answered" | "failed" | "not_asked";
            /** @description Why it did not answer: a fixed word, such as `provider_unreachable` */
            reason: string | null;
            /** @description The same as a sentence */
            message: string | null;
            /** @description Milliseconds until it had answered or failed, its retries included */
            latency_ms: number;
            input_tokens: number;
            output_tokens: number;
            /** @description US dollars; null when the price is unknown */
            cost_usd: number | null;
        };
        AgentCheck: {
            /** @example support */
            name: string;
            /** @description What it names that is not there */
            warnings: string[];
            /** @description In the order in which they are asked; a model of several agents was asked once */
            models: components["schemas"]["ModelCheck"][];
        };
        AgentsChecked: {
            /** @description By name */
            agents: components["schemas"]["AgentCheck"][];
            /** @description US dollars, of all calls together; null when no price is known */
            cost_usd: number | null;
        };
        Approval: {
            /** @example appr_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            /** @enum {string} */
            status: "pending" | "allowed" | "denied";
            /** @example files__write_file */
            tool: string;
            /** @description What the model wants to call it with */
            arguments: {
                [key: string]: unknown;
            };
            /** @description As the model numbered the call */
            tool_call_id: string;
            session_id: string;
            channel: string;
            user_id: string;
            /** Format: date-time */
            asked_at: string;
            /**
             * Format: date-time
             * @description Without a decision by then the call is refused
             */
            expires_at: string;
            /** @description As the audit names them */
            decided_by: string | null;
            /** Format: date-time */
            decided_at: string | null;
            reason: string | null;
        };
        ApprovalPage: {
            /** @description Newest first */
            items: components["schemas"]["Approval"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        DecisionRequest: {
            /** @enum {string} */
            decision: "allow" | "deny";
            /**
             * @description Why, for whoever looks at the decision
             * @example Asked by phone
             */
            reason?: string;
        };
        AuditRow: {
            /** @example 4711 */
            id: string;
            /** Format: date-time */
            at: string;
            /**
             * @description A token, a user, a person at the command line, or the gateway
             * @example laptop
             */
            actor: string;
            /** @description Null for what did not come over the network */
            address: string | null;
            /**
             * @description A noun and a past participle
             * @example token.created
             */
            action: string;
            /** @example ci */
            subject: string;
            /** @example success */
            result: string;
            /** @description Further facts */
            details: {
                [key: string]: unknown;
            };
        };
        AuditPage: {
            /** @description Newest first */
            items: components["schemas"]["AuditRow"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        AdminChannel: {
            /** @example api */
            name: string;
            /** @enum {string} */
            status: "connected" | "disconnected" | "reconnecting";
            /**
             * @description `api` for the one that is built in
             * @example telegram
             */
            type: string;
            enabled: boolean;
            /** Format: date-time */
            connected_at: string | null;
            /** @description Why it is not connected */
            error: string | null;
            /** @description Live sessions */
            active_sessions: number;
        };
        AdminChannelPage: {
            /** @description By name */
            items: components["schemas"]["AdminChannel"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        ChannelState: {
            /** @example api */
            name: string;
            /** @enum {string} */
            status: "connected" | "disconnected" | "reconnecting";
        };
        ConfigEdit: {
            /** @example agent.max_turns */
            key: string;
            /** @description What was set at run time; null when nothing was, a marker for a secret */
            before: (string | null) | number | boolean | unknown[] | Record<string, never>;
            /** @description The same afterwards */
            after: (string | null) | number | boolean | unknown[] | Record<string, never>;
        };
        ConfigChange: {
            /** @example 17 */
            revision: string;
            /** @enum {string} */
            action: "patch" | "rollback" | "reload";
            /** @description The name of the token, or a person at the command line */
            actor: string;
            /** @description Null at the command line */
            token_id: string | null;
            /** Format: date-time */
            changed_at: string;
            edits: components["schemas"]["ConfigEdit"][];
        };
        ConfigHistoryPage: {
            /** @description Newest first */
            items: components["schemas"]["ConfigChange"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        RollbackRequest: {
            /**
             * @description Everything after it is undone; 0 is before all changes. Without it, the newest change is
             * @example 16
             */
            revision?: string;
        };
        Rollback: {
            /**
             * @description The keys that changed
             * @example [
             *       "agent.max_turns"
             *     ]
             */
            changed: string[];
            /** @description One of these keys takes effect at the next start only */
            reload_required: boolean;
        };
        Delivery: {
            /** @example 4711 */
            id: string;
            hook_id: string;
            event_id: string;
            /** @example message.sent */
            event: string;
            /** @description Null before its first attempt */
            sequence: number | null;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            attempts: number;
            /** @description HTTP status of the last attempt */
            last_status: number | null;
            /** @description Why the last attempt got no answer */
            last_error: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_attempt_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
        };
        DeliveryPage: {
            /** @description Newest first */
            items: components["schemas"]["Delivery"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        DeliveryDetail: {
            /** @example 4711 */
            id: string;
            hook_id: string;
            event_id: string;
            /** @example message.sent */
            event: string;
            /** @description Null before its first attempt */
            sequence: number | null;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            attempts: number;
            /** @description HTTP status of the last attempt */
            last_status: number | null;
            /** @description Why the last attempt got no answer */
            last_error: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_attempt_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            /** @description What is delivered; null for a token without `sessions:read` (for events of the audit: `audit:read`) */
            data: {
                [key: string]: unknown;
            } | null;
        };
        Redelivery: {
            id: string;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
        };
        AdminHook: {
            /** @example hook_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            url: string;
            events: string[];
            /** @description False: it was given up, or ended with its token */
            active: boolean;
            /** @description Why it is not active */
            inactive_reason: string | null;
            /**
             * Format: date-time
             * @description Since when every attempt failed
             */
            failing_since: string | null;
            /** @description Deliveries that have not succeeded yet */
            waiting: number;
            /** Format: date-time */
            created_at: string;
        };
        AdminHookPage: {
            /** @description Newest first */
            items: components["schemas"]["AdminHook"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        PromptArgument: {
            name: string;
            description: string;
            required: boolean;
        };
        ServerPrompt: {
            /** @description What people write: `/server-prompt`, then its arguments */
            command: string;
            /** @description By the name that the server gives it */
            name: string;
            description: string;
            arguments: components["schemas"]["PromptArgument"][];
        };
        UserConnections: {
            /** @description That make a call */
            busy: number;
            idle: number;
        };
        AdminMcpServer: {
            name: string;
            /** @enum {string} */
            status: "connected" | "reconnecting" | "disconnected";
            /** @enum {string} */
            transport: "stdio" | "http" | "sse";
            /** Format: date-time */
            connected_at: string | null;
            /** @description Why it is not connected */
            error: string | null;
            /** @description That it runs without the sandbox that it should have, or that prompts of it are left out */
            warning: string | null;
            /** @description What it offers, by its own names */
            tools: string[];
            /** @description What people may ask for */
            prompts: components["schemas"]["ServerPrompt"][];
            /** @description Connections of users and sessions on this replica */
            connections: components["schemas"]["UserConnections"];
            /** @description Tools that wait for approval, by its own names */
            quarantined: string[];
            /**
             * @description `needed`: somebody has to sign in before it can be connected to; `none`: the server has no `oauth_sign_in`
             * @enum {string}
             */
            sign_in: "none" | "needed" | "signed_in";
            /** @description The operator who asked for the link with which somebody signed in */
            signed_in_by: string | null;
            /** Format: date-time */
            signed_in_at: string | null;
        };
        AdminMcpServerPage: {
            /** @description By name */
            items: components["schemas"]["AdminMcpServer"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        KnownTool: {
            server: string;
            tool: string;
            /** @enum {string} */
            state: "approved" | "quarantined";
            /** Format: date-time */
            first_seen_at: string;
            /** Format: date-time */
            changed_at: string | null;
            /** @description As it was approved */
            definition: {
                [key: string]: unknown;
            };
            /** @description As it is now; null unless it is in quarantine */
            pending: {
                [key: string]: unknown;
            } | null;
            /** @description Of the pending definition */
            fingerprint: string | null;
        };
        KnownToolPage: {
            /** @description By server and name */
            items: components["schemas"]["KnownTool"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        McpServerState: {
            name: string;
            /** @enum {string} */
            status: "connected" | "reconnecting" | "disconnected";
        };
        ApproveToolsRequest: {
            /** @description The tool, by the name that the server gives it; all of them unless given */
            tool?: string;
            /** @description Of what was looked at, as the list has it: a definition that changed since is 409 */
            fingerprint?: string;
        };
        ApprovedTools: {
            /** @description Those that were in quarantine */
            approved: string[];
        };
        SignInLink: {
            name: string;
            /**
             * Format: uri
             * @description The page to open in a browser
             */
            url: string;
            /** @description The authorization server that asks there, by its own name */
            issuer: string;
            /** @description The scopes that are asked for; null for whatever that server gives */
            scope: string | null;
            /**
             * Format: date-time
             * @description When the link ends
             */
            expires_at: string;
        };
        HealthPart: {
            /** @example database */
            name: string;
            /** @enum {string} */
            status: "ok" | "warning" | "failing";
            detail: string;
            /** @description What to do about it; null while it is well */
            advice: string | null;
        };
        Health: {
            /** @enum {string} */
            status: "healthy" | "degraded" | "unhealthy";
            version: string;
            /** @description Of the replica that answers */
            uptime_secs: number;
            parts: components["schemas"]["HealthPart"][];
        };
        Now: {
            sessions_active: number;
            /** @description Active or idle */
            sessions_live: number;
            turns_running: number;
            turns_waiting: number;
            approvals_pending: number;
        };
        TurnTotals: {
            turns: number;
            /** @description Failed or interrupted */
            failed: number;
            input_tokens: number;
            output_tokens: number;
            /** @description US dollars; null when nothing of it is priced, and without `usage:read` */
            cost_usd: number | null;
        };
        TurnBucket: {
            turns: number;
            /** @description Failed or interrupted */
            failed: number;
            input_tokens: number;
            output_tokens: number;
            /** @description US dollars; null when nothing of it is priced, and without `usage:read` */
            cost_usd: number | null;
            /**
             * Format: date-time
             * @description When this piece of time begins
             */
            at: string;
        };
        Attention: {
            /** @enum {string} */
            kind: "approval" | "channel" | "mcp_server" | "tool_quarantine" | "hook" | "budget";
            /** @description Empty for approvals, which are counted together */
            name: string;
            text: string;
            /** Format: date-time */
            since: string | null;
            count: number;
        };
        Overview: {
            /**
             * Format: date-time
             * @description The beginning of the first piece of time
             */
            since: string;
            /** Format: date-time */
            until: string;
            bucket_secs: number;
            /**
             * Format: date-time
             * @description Later than `since` when there were too many turns to count them all
             */
            complete_since: string;
            health: components["schemas"]["Health"];
            now: components["schemas"]["Now"];
            /** @description Of the whole time */
            totals: components["schemas"]["TurnTotals"];
            /** @description Oldest first, also where there were no turns */
            series: components["schemas"]["TurnBucket"][];
            /** @description What needs a person, of the areas that the caller may read */
            attention: components["schemas"]["Attention"][];
        };
        Question: {
            /** @example ques_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            /** @enum {string} */
            status: "pending" | "accepted" | "declined" | "cancelled";
            /** @example travel__book */
            tool: string;
            /** @description Plain text of the tool */
            message: string;
            /** @description A flat JSON Schema of the values asked for */
            schema: {
                [key: string]: unknown;
            };
            /** @description A page that the person is to open */
            url: string | null;
            /** @description As the model numbered the call */
            tool_call_id: string;
            session_id: string;
            agent: string;
            channel: string;
            user_id: string;
            /** Format: date-time */
            asked_at: string;
            /**
             * Format: date-time
             * @description Without an answer by then it counts as declined
             */
            expires_at: string;
            /** @description As the audit names them */
            answered_by: string | null;
            /** Format: date-time */
            answered_at: string | null;
        };
        QuestionPage: {
            /** @description Newest first */
            items: components["schemas"]["Question"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        AnswerRequest: {
            /**
             * @description `cancel` is neither yes nor no
             * @enum {string}
             */
            action: "accept" | "decline" | "cancel";
            /** @description The values that were asked for, with `accept` */
            content?: {
                [key: string]: unknown;
            };
        };
        NewToken: {
            /** @example tok_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            /** @example ci */
            name: string;
            /** @description What it may do; `*` is everything, what later versions add included */
            scopes: ("sessions:read" | "sessions:write" | "channels:read" | "channels:write" | "hooks:read" | "hooks:write" | "mcp:read" | "mcp:write" | "plugins:read" | "plugins:write" | "skills:read" | "skills:write" | "status:read" | "status:write" | "config:read" | "config:write" | "logs:read" | "logs:write" | "metrics:read" | "metrics:write" | "approvals:read" | "approvals:write" | "users:act_as" | "agents:read" | "usage:read" | "audit:read" | "tokens:read" | "tokens:write" | "security:write" | "*")[];
            /** @description The only user that it sees; null sees all */
            user_id: string | null;
            /** @description The only agents that it may use, the first one by default; null is all */
            agents: string[] | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: never
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Noted every half minute; null: never
             */
            last_used_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            /**
             * @description The token itself: shown in this answer, once
             * @example agw_…
             */
            token: string;
        };
        Me: {
            /**
             * @description The name of the token, or `issuer|subject` of a JWT
             * @example laptop
             */
            name: string;
            scopes: ("sessions:read" | "sessions:write" | "channels:read" | "channels:write" | "hooks:read" | "hooks:write" | "mcp:read" | "mcp:write" | "plugins:read" | "plugins:write" | "skills:read" | "skills:write" | "status:read" | "status:write" | "config:read" | "config:write" | "logs:read" | "logs:write" | "metrics:read" | "metrics:write" | "approvals:read" | "approvals:write" | "users:act_as" | "agents:read" | "usage:read" | "audit:read" | "tokens:read" | "tokens:write" | "security:write" | "*")[];
            /** @description The only user that it sees; null sees all */
            user_id: string | null;
            /** @description The only agents it may use; null is all */
            agents: string[] | null;
            /**
             * @description The profile that this port serves below `/api/v1`
             * @enum {string}
             */
            profile: "a" | "b";
            /**
             * @description The version of the gateway
             * @example 0.1.0
             */
            version: string;
        };
        AdminSession: {
            /** @example sess_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            user_id: string;
            channel: string;
            agent: string;
            /** @description The model that it names; null for that of its agent */
            model: string | null;
            /** @enum {string} */
            status: "active" | "idle" | "terminated";
            /** @description Whether a turn runs in it */
            running: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_activity: string;
            message_count: number;
            turn_count: number;
            input_tokens: number;
            output_tokens: number;
        };
        AdminSessionPage: {
            /** @description Newest first */
            items: components["schemas"]["AdminSession"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        AdminSessionDetail: {
            /** @example sess_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            user_id: string;
            channel: string;
            agent: string;
            /** @description The model that it names; null for that of its agent */
            model: string | null;
            /** @enum {string} */
            status: "active" | "idle" | "terminated";
            /** @description Whether a turn runs in it */
            running: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_activity: string;
            message_count: number;
            turn_count: number;
            input_tokens: number;
            output_tokens: number;
            /** @description The model that answers next */
            answering_model: string;
            system_prompt: string | null;
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was ended, or its silence was written down
             */
            ended_at: string | null;
            /** @description The id of the turn that runs */
            running_turn_id: string | null;
            /** @description Messages that wait for their turn */
            turns_waiting: number;
            cached_input_tokens: number;
            cache_write_tokens: number;
            reasoning_tokens: number;
            /** @description Tokens, in and out, whose price is unknown */
            unpriced_tokens: number;
            /** @description US dollars, of the tokens whose price is known; null when nothing of it is priced */
            cost_usd: number | null;
            /** @description Model tokens of a day; null while no daily budget for sessions is set */
            token_budget?: {
                limit: number;
                /** @description Since midnight UTC */
                used: number;
                /** Format: date-time */
                resets_at: string;
            } | null;
        };
        Token: {
            /** @example tok_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            /** @example ci */
            name: string;
            /** @description What it may do; `*` is everything, what later versions add included */
            scopes: ("sessions:read" | "sessions:write" | "channels:read" | "channels:write" | "hooks:read" | "hooks:write" | "mcp:read" | "mcp:write" | "plugins:read" | "plugins:write" | "skills:read" | "skills:write" | "status:read" | "status:write" | "config:read" | "config:write" | "logs:read" | "logs:write" | "metrics:read" | "metrics:write" | "approvals:read" | "approvals:write" | "users:act_as" | "agents:read" | "usage:read" | "audit:read" | "tokens:read" | "tokens:write" | "security:write" | "*")[];
            /** @description The only user that it sees; null sees all */
            user_id: string | null;
            /** @description The only agents that it may use, the first one by default; null is all */
            agents: string[] | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: never
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description Noted every half minute; null: never
             */
            last_used_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
        };
        TokenPage: {
            /** @description Newest first */
            items: components["schemas"]["Token"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        CreateTokenRequest: components["schemas"]["TokenWithScopes"] | components["schemas"]["TokenOfPreset"];
        RotateTokenRequest: {
            /**
             * @description Such as `90d`, `12h`, `30m`, `45s`, or `never`; 90 days unless given, or as long as your own token if that is less
             * @example 30d
             */
            expires_in?: string;
            /**
             * @description How long the old token works beside the new one, such as `24h`; it ends at once unless given
             * @example 24h
             */
            keep_old?: string;
        };
        AdminTurn: {
            /** @example turn_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            session_id: string;
            user_id: string;
            agent: string;
            channel: string;
            /** @enum {string} */
            status: "waiting" | "running" | "awaiting_approval" | "completed" | "failed" | "interrupted" | "cancelled";
            /** @description Why it ended without an answer */
            reason: string | null;
            /** @description The model that answered; until then the one that the session names */
            model: string | null;
            /** @description How often it was begun or taken up since its last step */
            attempts: number;
            /** @description How often another replica went on with it */
            take_ups: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            /** @description From its begin to its end */
            duration_ms: number | null;
            /** @description All input, from a cache or not; counted at the end, as the next ones */
            input_tokens: number;
            cached_input_tokens: number;
            cache_write_tokens: number;
            /** @description All output, reasoning included */
            output_tokens: number;
            reasoning_tokens: number;
            /** @description Tokens, in and out, whose price is unknown */
            unpriced_tokens: number;
            /** @description US dollars, of the tokens whose price is known; null when nothing of it is priced */
            cost_usd: number | null;
        };
        AdminTurnPage: {
            /** @description Newest first */
            items: components["schemas"]["AdminTurn"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        AskedTool: {
            id: string;
            name: string;
        };
        ModelStep: {
            number: number;
            /** @enum {string} */
            kind: "model";
            /** Format: date-time */
            at: string;
            model: string | null;
            /** @description The tools that it called */
            tool_calls: components["schemas"]["AskedTool"][];
            /** @description Since the model step before */
            input_tokens: number;
            output_tokens: number;
            /** @description US dollars, of the tokens whose price is known; null when nothing of it is priced */
            cost_usd: number | null;
        };
        ToolStep: {
            number: number;
            /** @enum {string} */
            kind: "tool";
            /** Format: date-time */
            at: string;
            tool_call_id: string;
            /** @description Null when no model step names the call */
            name: string | null;
            /**
             * @description How the call went
             * @example success
             */
            status: string;
            duration_ms: number | null;
        };
        Failover: {
            model: string;
            /** @example provider_unreachable */
            reason: string;
        };
        TurnDetail: {
            /** @example turn_01jd8v3q5ze0psx2w9t6m4k7ah */
            id: string;
            session_id: string;
            user_id: string;
            agent: string;
            channel: string;
            /** @enum {string} */
            status: "waiting" | "running" | "awaiting_approval" | "completed" | "failed" | "interrupted" | "cancelled";
            /** @description Why it ended without an answer */
            reason: string | null;
            /** @description The model that answered; until then the one that the session names */
            model: string | null;
            /** @description How often it was begun or taken up since its last step */
            attempts: number;
            /** @description How often another replica went on with it */
            take_ups: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            /** @description From its begin to its end */
            duration_ms: number | null;
            /** @description All input, from a cache or not; counted at the end, as the next ones */
            input_tokens: number;
            cached_input_tokens: number;
            cache_write_tokens: number;
            /** @description All output, reasoning included */
            output_tokens: number;
            reasoning_tokens: number;
            /** @description Tokens, in and out, whose price is unknown */
            unpriced_tokens: number;
            /** @description US dollars, of the tokens whose price is known; null when nothing of it is priced */
            cost_usd: number | null;
            user_message_id: string;
            /** @description The message that answers, without its text */
            answer?: {
                message_id: string;
                model: string | null;
                /** @description Why the model stopped */
                finish_reason: string | null;
                /** @description `cancelled`, `failed` or `interrupted`: the answer was cut off */
                incomplete: string | null;
                /** Format: date-time */
                created_at: string;
            } | null;
            /** @description What whoever waited was told */
            failure?: {
                code: string;
                message: string;
            } | null;
            /** @description Models that failed, in their order */
            failover: components["schemas"]["Failover"][];
            /** @description What was stored while it ran: each call of the model that used tools, and each answer of a tool; without texts, arguments and results */
            steps: (components["schemas"]["ModelStep"] | components["schemas"]["ToolStep"])[];
        };
        CancelledTurn: {
            id: string;
            /**
             * @description `running` until the replica that runs it has noticed, within a second
             * @enum {string}
             */
            status: "waiting" | "running" | "awaiting_approval" | "completed" | "failed" | "interrupted" | "cancelled";
        };
        UsageRow: {
            /**
             * Format: date
             * @description In UTC, on which turns ended
             */
            day?: string;
            agent?: string;
            user?: string;
            /** @description Its name; `channel:<name>` for a channel, `issuer|subject` for who signed in */
            api_token?: string;
            /** @description As its provider names it, with `provider/` before it unless that is the default one */
            model?: string;
            channel?: string;
            /** @description A turn that used several models counts to the last of them */
            turns: number;
            /** @description All input, from a cache or not */
            input_tokens: number;
            /** @description Of the input: what came from the cache of the provider */
            cached_input_tokens: number;
            /** @description Of the input: what was written to the cache */
            cache_write_tokens: number;
            /** @description All output, reasoning included */
            output_tokens: number;
            /** @description Of the output: what the model thought */
            reasoning_tokens: number;
            /** @description US dollars, of the tokens whose price is known; null when nothing of it is priced */
            cost_usd: number | null;
            /** @description Tokens, in and out, whose price is unknown */
            unpriced_tokens: number;
        };
        UsagePage: {
            /** @description Sorted by the dimensions */
            items: components["schemas"]["UsageRow"][];
            /** @description The `cursor` of the next page; null on the last */
            next_cursor: string | null;
        };
        TokenWithScopes: {
            /**
             * @description Its name in lists and logs, and in settings for it
             * @example ci
             */
            name: string;
            /**
             * @example [
             *       "sessions:read",
             *       "sessions:write"
             *     ]
             */
            scopes: ("sessions:read" | "sessions:write" | "channels:read" | "channels:write" | "hooks:read" | "hooks:write" | "mcp:read" | "mcp:write" | "plugins:read" | "plugins:write" | "skills:read" | "skills:write" | "status:read" | "status:write" | "config:read" | "config:write" | "logs:read" | "logs:write" | "metrics:read" | "metrics:write" | "approvals:read" | "approvals:write" | "users:act_as" | "agents:read" | "usage:read" | "audit:read" | "tokens:read" | "tokens:write" | "security:write" | "*")[];
            /** @description The only user whose sessions it sees and for whom tools act; needs `users:act_as` */
            user_id?: string;
            /**
             * @description Such as `90d`, `12h`, `30m`, `45s`, or `never`; 90 days unless given, or as long as your own token if that is less
             * @example 30d
             */
            expires_in?: string;
        };
        TokenOfPreset: {
            /**
             * @description Its name in lists and logs, and in settings for it
             * @example ci
             */
            name: string;
            /**
             * @description A usual set of scopes
             * @enum {string}
             */
            preset: "admin" | "operator" | "viewer";
            /** @description The only user whose sessions it sees and for whom tools act; needs `users:act_as` */
            user_id?: string;
            /**
             * @description Such as `90d`, `12h`, `30m`, `45s`, or `never`; 90 days unless given, or as long as your own token if that is less
             * @example 30d
             */
            expires_in?: string;
        };
        ErrorEnvelope: {
            error: {
                /** @enum {string} */
                code: "bad_request" | "unauthorized" | "forbidden" | "not_found" | "conflict" | "rate_limited" | "internal_error";
                /** @description What went wrong and what to do next, for people */
                message: string;
                details: {
                    /**
                     * @description A fixed word for the cause
                     * @example turn_in_progress
                     */
                    reason?: string;
                    /** @description What is wrong with which field */
                    fields?: {
                        /**
                         * @description The dotted path of the field
                         * @example attachments.0.data
                         */
                        path: string;
                        /** @example must be base64 with padding */
                        message: string;
                    }[];
                } | null;
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
                 *         "message": "limit: must be a whole number from 0 to 9007199254740991",
                 *         "details": null
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
                 *         "message": "An access token is required. Send it as \"Authorization: Bearer <token>\".",
                 *         "details": null
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
                 *         "message": "This token lacks the scope \"sessions:write\". Ask for a token that has it.",
                 *         "details": null
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
                 *         "message": "There is no such session.",
                 *         "details": null
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
                 *         "message": "This path answers only to GET, HEAD.",
                 *         "details": null
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
                 *         "message": "The request did not arrive in time.",
                 *         "details": null
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
                 *         "message": "The session has ended. Create a new one with POST /sessions.",
                 *         "details": null
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
                 *         "message": "The body is larger than 1048576 bytes.",
                 *         "details": null
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
                 *         "message": "The URI is longer than 8192 bytes.",
                 *         "details": null
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
                 *         "message": "The body has to be JSON in UTF-8: send \"Content-Type: application/json\".",
                 *         "details": null
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
                 *         "message": "Too many requests: this group of endpoints allows 30 per second. Try again in 1 s.",
                 *         "details": null
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
                 *         "message": "The headers are larger than 16384 bytes.",
                 *         "details": null
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
                 *         "message": "Something unexpected went wrong.",
                 *         "details": null
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
                 *         "message": "The model provider answered with status 500.",
                 *         "details": null
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
                 *         "message": "The database cannot be reached. Try again in 1 s.",
                 *         "details": null
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
        /** @description `true` when this is the answer of an earlier request with the same Idempotency-Key */
        "Idempotency-Replayed": "true";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    agents_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of agents, by name */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
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
    agents_check: {
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
                "application/json": components["schemas"]["CheckAgentsRequest"];
            };
        };
        responses: {
            /** @description Each model was asked, or says why not */
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
                    "application/json": components["schemas"]["AgentsChecked"];
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
    approvals_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description Decided ones stay for an hour */
                status?: "pending" | "allowed" | "denied";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of approvals, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPage"];
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
    approvals_decide: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the approval, as the list and the events of the session have it */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionRequest"];
            };
        };
        responses: {
            /** @description The decision */
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
                    "application/json": components["schemas"]["Approval"];
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
            503: components["responses"]["Unavailable"];
        };
    };
    audit_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description The name of who did it */
                actor?: string;
                /** @description What was done */
                action?: string;
                /** @description What it was done to */
                subject?: string;
                /** @description ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; without it, from the oldest row on */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of rows, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
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
    adminchannels_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of channels, by name */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminChannelPage"];
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
    adminchannels_restart: {
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
            /** @description The channel is reconnecting */
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
                    "application/json": components["schemas"]["ChannelState"];
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
    confighistory_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of changes, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigHistoryPage"];
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
    confighistory_rollBack: {
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
                "application/json": components["schemas"]["RollbackRequest"];
            };
        };
        responses: {
            /** @description What was undone */
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
                    "application/json": components["schemas"]["Rollback"];
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
    deliveries_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description The id of the webhook */
                hook?: string;
                status?: "pending" | "delivered" | "failed";
                /** @description ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; without it, from the oldest on */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
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
    deliveries_find: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the delivery, as the list has it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryDetail"];
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
    deliveries_redeliver: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the delivery, as the list has it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is sent again */
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
                    "application/json": components["schemas"]["Redelivery"];
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
    adminhooks_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhooks, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminHookPage"];
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
    adminmcp_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tool servers, by name */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminMcpServerPage"];
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
    adminmcp_tools: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description The name of the server */
                server?: string;
                /** @description `true`: only those in quarantine */
                quarantined?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tools, by server and name */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnownToolPage"];
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
    adminmcp_reconnect: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The name of the tool server in the configuration */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server is reconnecting */
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
                    "application/json": components["schemas"]["McpServerState"];
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
    adminmcp_approve: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The name of the tool server in the configuration */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveToolsRequest"];
            };
        };
        responses: {
            /** @description Every replica offers them again */
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
                    "application/json": components["schemas"]["ApprovedTools"];
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
            503: components["responses"]["Unavailable"];
        };
    };
    adminmcp_signIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The name of the tool server in the configuration */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link to open */
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
                    "application/json": components["schemas"]["SignInLink"];
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
            502: components["responses"]["ProviderFailed"];
            503: components["responses"]["Unavailable"];
        };
    };
    adminmcp_signOut: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the tool server in the configuration */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Nobody is signed in */
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
    overview_show: {
        parameters: {
            query?: {
                /** @description ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; 24h unless given */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The overview */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
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
    questions_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description Answered ones stay for an hour */
                status?: "pending" | "accepted" | "declined" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of questions, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuestionPage"];
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
    questions_answer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the question, as the list and the events of the session have it */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerRequest"];
            };
        };
        responses: {
            /** @description The question, answered */
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
                    "application/json": components["schemas"]["Question"];
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
            503: components["responses"]["Unavailable"];
        };
    };
    signin_exchange: {
        parameters: {
            query?: never;
            header: {
                /** @description `Sign-In-Code` and the code of the link */
                Authorization: string;
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token */
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
                    "application/json": components["schemas"]["NewToken"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
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
    me_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The caller */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
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
    adminsessions_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description The beginning of an id with `sess_`, or a part of the id of a user in whatever case; a page looks at 50,000 sessions for that, and may be short */
                query?: string;
                /** @description The id of its user */
                user?: string;
                /** @description The name of its agent */
                agent?: string;
                /** @description The name of its channel */
                channel?: string;
                /** @description `live` is active or idle */
                status?: "active" | "idle" | "terminated" | "live";
                /** @description ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; created since then; without it, from the oldest on */
                since?: string;
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
                    "application/json": components["schemas"]["AdminSessionPage"];
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
    adminsessions_find: {
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
                    "application/json": components["schemas"]["AdminSessionDetail"];
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
    tokens_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tokens, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
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
    tokens_create: {
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
                "application/json": components["schemas"]["CreateTokenRequest"];
            };
        };
        responses: {
            /** @description The new token */
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
                    "application/json": components["schemas"]["NewToken"];
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
    tokens_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the token, as it was given when the token was created */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token is revoked */
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
    tokens_rotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the token, as it was given when the token was created */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateTokenRequest"];
            };
        };
        responses: {
            /** @description The new token */
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
                    "application/json": components["schemas"]["NewToken"];
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
            503: components["responses"]["Unavailable"];
        };
    };
    adminturns_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description The id of the session */
                session?: string;
                /** @description The user of the session */
                user?: string;
                /** @description The agent of the session */
                agent?: string;
                status?: "waiting" | "running" | "awaiting_approval" | "completed" | "failed" | "interrupted" | "cancelled";
                /** @description ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; without it, from the oldest on */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of turns, newest first */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminTurnPage"];
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
    adminturns_find: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the turn, as lists and events have it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The turn */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnDetail"];
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
    adminturns_cancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Does this once: for 24 hours the same key with the same body gets the first answer again, with `Idempotency-Replayed: true`; with another body, or while the first is still being served, 409 */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the turn, as lists and events have it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The turn is being ended */
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
                    "application/json": components["schemas"]["CancelledTurn"];
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
    usage_list: {
        parameters: {
            query?: {
                limit?: number;
                /** @description The `next_cursor` of the page before, with the same filters; leave it out for the first page */
                cursor?: string;
                /** @description What the rows tell apart, in the order in which they are sorted: of day, agent, user, api_token, model, channel, with commas */
                by?: string;
                /** @description The first day (UTC); 30 days with today unless given */
                since?: string;
                /** @description The last day (UTC), included; today unless given */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of usage, sorted by the dimensions */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsagePage"];
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
