/**
 * What erasing a person does to every table, and what an export of that person has. A test compares it with the database:
 * each new table, and each new column that can hold text, needs its line here.
 *
 * Conditions speak of a row as `t` and of the person as `given.id`; `given.json` is the id within JSON, `given.word` a
 * regular expression that finds it as a word, `given.mark` what its memories' words begin with.
 */
export interface TablePlan {
  /** Which rows are about the person; they are exported and deleted. Absent when none is. */
  readonly mine?: string;
  /** Every column that can hold text and goes with its row. */
  readonly goes?: readonly string[];
  /** Columns with ids in rows that may stay: the person's id is replaced by its keyed hash. */
  readonly hashed?: readonly string[];
  /** The other columns that can hold text, and why nothing is done to them. */
  readonly kept?: Readonly<Record<string, string>>;
  /** Left out of an export. */
  readonly secret?: readonly string[];
  /** A change beyond all that, such as `name = 'erased'`, with the rows it applies to. */
  readonly also?: { readonly set: string; readonly where: string };
  /** Rows are large: few at once. */
  readonly large?: true;
  /** SQL: in which order rows are deleted, where some are found by others of the same table. */
  readonly erasedInOrderOf?: string;
  /** Rows stay when a person is erased, but are exported: what `hashed` and `also` name is changed. */
  readonly stays?: true;
}

const MY_SESSIONS = 'SELECT s.id FROM sessions AS s WHERE s.user_id = given.id';
/** What the person wrote in conversations of several people, as far as it is still there. */
const SAID_IN_CHANNELS = `FROM channel_messages AS c JOIN messages AS said ON said.id = c.message_id WHERE c.user_id = given.id`;
const MY_TURNS = `
  SELECT own.id FROM turns AS own WHERE own.session_id IN (${MY_SESSIONS})
  UNION ALL
  SELECT said.turn_id ${SAID_IN_CHANNELS}`;
/** Messages are found by an index of their session, not by their turn. */
const MY_MESSAGES = `
  SELECT own.id FROM messages AS own WHERE own.session_id IN (${MY_SESSIONS})
  UNION ALL
  SELECT near.id FROM messages AS near
  WHERE near.session_id IN (SELECT said.session_id ${SAID_IN_CHANNELS}) AND near.turn_id IN (SELECT said.turn_id ${SAID_IN_CHANNELS})`;
/** Also hooks that were notified of one of the person's turns. */
const isMyHook = (t: string): string =>
  `${t}.user_id = given.id OR ${t}.token_family = given.id OR ${t}.message_id IN (${MY_MESSAGES})`;
const MY_HOOKS = `SELECT h.id FROM hooks AS h WHERE ${isMyHook('h')}`;
const isMyEvent = (t: string): string =>
  `strpos(${t}.data::text, given.json) > 0 OR ${t}.data ->> 'session_id' IN (${MY_SESSIONS})`;

/** Budgets of the person, and of tokens whose name nobody else's token has. */
const MY_BUDGETS = `t.scope IN ('users', 'api_tokens') AND t.name = given.id
  OR t.scope = 'api_tokens' AND t.name IN (SELECT k.name FROM api_tokens AS k WHERE k.user_id = given.id)
    AND NOT EXISTS (SELECT 1 FROM api_tokens AS k WHERE k.name = t.name AND k.user_id IS DISTINCT FROM given.id)`;

const WORD = 'a fixed word';
const OPERATORS = 'what operators configured';

/**
 * In the order of erasing: tables by which rows of others are found come after them. Large tables are searched by an
 * index, for which the ids have to be an array (`= ANY (ARRAY(…))`); where all rows are read anyway, `IN` is faster.
 */
export const ERASURE_PLAN: Readonly<Record<string, TablePlan>> = {
  log_entries: {
    goes: words('module message session_id'),
    mine: `t.session_id IN (${MY_SESSIONS}) OR strpos(t.message, given.id) > 0 AND t.message ~ given.word`,
  },
  turn_frames: { goes: words('turn_id events'), mine: `t.turn_id = ANY (ARRAY(${MY_TURNS}))` },
  turn_steps: { goes: words('turn_id kind content'), mine: `t.turn_id = ANY (ARRAY(${MY_TURNS}))` },
  turn_files: {
    goes: words('turn_id name mime_type data'),
    mine: `t.turn_id = ANY (ARRAY(${MY_TURNS}))`,
    large: true,
  },
  attachments: {
    goes: words('id message_id data token_family'),
    mine: `t.message_id = ANY (ARRAY(${MY_MESSAGES}))`,
    hashed: ['token_family'],
    large: true,
  },
  conversation_summaries: {
    goes: words('session_id content model'),
    mine: `t.session_id = ANY (ARRAY(${MY_SESSIONS}
      UNION SELECT said.session_id FROM turns AS said WHERE said.id IN (${MY_TURNS})))`,
  },
  idempotency_keys: {
    goes: words('scope token_id operation request turn_id owner headers body'),
    mine: `t.turn_id IN (${MY_TURNS}) OR t.token_id = given.id OR strpos(coalesce(t.body, ''), given.json) > 0
      OR substring(coalesce(t.body, '') FROM 'sess_[0-9a-z]+') IN (${MY_SESSIONS})
      OR substring(t.operation FROM 'sess_[0-9a-z]+') IN (${MY_SESSIONS})`,
  },
  tool_approvals: {
    goes: words(
      'id call_id turn_id tool arguments session_id channel user_id asked_by verdict decided_by reason',
    ),
    mine: `t.user_id = given.id OR t.session_id IN (${MY_SESSIONS})`,
  },
  tool_questions: {
    goes: words(
      'id call_id tool session_id agent channel user_id acts_for message schema url action content answered_by',
    ),
    mine: `t.user_id = given.id OR t.acts_for = given.id OR t.session_id IN (${MY_SESSIONS})`,
  },
  session_audiences: { goes: words('session_id replica'), mine: `t.session_id IN (${MY_SESSIONS})` },
  hook_deliveries: {
    goes: words('hook_id event_id event status last_error'),
    mine: `t.hook_id IN (${MY_HOOKS}) OR t.event_id IN (SELECT e.id FROM events AS e WHERE ${isMyEvent('e')})`,
  },
  events: { goes: words('id name data'), mine: isMyEvent('t') },
  hook_lanes: { goes: words('hook_id owner'), mine: `t.hook_id IN (${MY_HOOKS})` },
  hooks: {
    goes: words(
      'id url events user_id secret old_secret inactive_reason token_family made_with message_id config_id',
    ),
    mine: isMyHook('t'),
    secret: ['secret', 'old_secret'],
  },
  channel_approvals: {
    goes: words('approval_id channel code target session_id asker title details status external_id decider'),
    mine: `t.asker = given.id OR t.session_id IN (${MY_SESSIONS})`,
    secret: ['code'],
  },
  channel_replies: {
    goes: words('message_id content file status external_id error'),
    mine: `t.message_id IN (SELECT c.message_id FROM channel_messages AS c WHERE c.user_id = given.id)
      OR t.message_id IN (${MY_MESSAGES})`,
  },
  responses: { goes: words('turn_id request'), mine: `t.turn_id = ANY (ARRAY(${MY_TURNS}))` },
  turns: {
    goes: words(
      'id session_id user_message_id status owner reason model failure failovers unseen_media token_id caller options origin',
    ),
    mine: `t.id = ANY (ARRAY(${MY_TURNS}))`,
    hashed: ['token_id'],
  },
  messages: {
    goes: words('id session_id turn_id role content tool_calls attachments model incomplete finish_reason'),
    mine: `t.id = ANY (ARRAY(${MY_MESSAGES}))`,
    // Answers first: those in conversations of several people are found by what they answer.
    erasedInOrderOf: 't.role',
  },
  channel_messages: {
    goes: words('channel conversation external_id message_id user_id content target files'),
    mine: 't.user_id = given.id',
  },
  channel_conversations: {
    goes: words('channel conversation session_id owner sole_user'),
    mine: `t.sole_user = given.id OR t.session_id IN (${MY_SESSIONS})`,
  },
  sessions: {
    goes: words('id channel user_id status system_prompt model metadata turn_owner agent awaits_message_id'),
    mine: 't.user_id = given.id',
  },
  memory_entries: { goes: words('id user_id content digest words session_id'), mine: 't.user_id = given.id' },
  memory_users: { goes: words('user_id'), mine: 't.user_id = given.id' },
  memory_words: { goes: words('word'), mine: 'starts_with(t.word, given.mark)' },
  rate_buckets: { goes: words('key'), mine: 't.key ~ given.word' },
  usage_entries: usage(),
  usage_days: usage(),
  budget_spending: { goes: words('scope name'), mine: MY_BUDGETS },
  budget_notices: { goes: words('scope name period notice'), mine: MY_BUDGETS },
  api_tokens: {
    mine: 't.user_id = given.id',
    stays: true,
    hashed: ['user_id', 'maker_family'],
    secret: ['sha256'],
    also: { set: `name = 'erased'`, where: `t.user_id = given.id AND t.name <> 'erased'` },
    kept: {
      id: 'of the token',
      name: '"erased" for one of the person',
      sha256: 'of the token',
      scopes: WORD,
      family_id: 'of the token',
      maker_credential: 'of a JWT',
      agents: OPERATORS,
    },
  },
  token_spending: { hashed: ['token_id'] },
  token_storage: { hashed: ['token_family'] },
  config_changes: {
    hashed: ['actor_name', 'actor_token_id'],
    also: {
      set: `actor_name = 'erased'`,
      where: `t.actor_name <> 'erased' AND t.actor_token_id IN (SELECT k.id FROM api_tokens AS k WHERE k.user_id = given.hash)`,
    },
    kept: { action: WORD, edits: OPERATORS },
  },
  identity_denials: {
    hashed: ['subject'],
    kept: {
      ...{ owner: 'who is refused stays refused; operators lift it', issuer: OPERATORS, jti: 'of a token' },
      denied_by: 'the operator',
    },
  },
  audit_entries: {
    kept: Object.fromEntries(
      ['action', 'actor', 'target', 'outcome', 'session_id', 'details', 'address'].map((column) => [
        column,
        'evidence, without texts, until its retention ends',
      ]),
    ),
  },
  audit_checkpoints: { kept: { hash: 'of the audit', signature: 'of the audit' } },
  audit_seals: { kept: { hash: 'of the audit' } },
  assertion_keys: { kept: { kid: WORD, public_key: WORD, sealed_key: 'a key of the gateway' } },
  change_counters: { kept: { name: WORD } },
  channel_states: {
    kept: {
      ...{ name: OPERATORS, status: WORD, error: 'why a platform cannot be reached', owner: 'a replica' },
      receive_cursor: 'where the platform goes on',
    },
  },
  config_overrides: { kept: { key: OPERATORS, value: OPERATORS, sealed: OPERATORS } },
  erased_folders: { kept: { folder: 'the name of a folder on replicas that were away: a hash' } },
  log_writers: { kept: { writer: 'a replica' } },
  master_key_check: { kept: { sealed: 'a known word' } },
  mcp_sign_ins: {
    kept: {
      ...{ server: OPERATORS, bound_to: 'a hash of settings', state_hash: 'a hash of a random text' },
      ...{
        sealed_client: "the gateway's own",
        sealed_flow: "the gateway's own",
        sealed_tokens: "the gateway's own",
      },
      ...{ problem: 'what an authorization server said', wanted_scope: 'what a tool server said' },
      signed_in_by: 'the name of an API token of an operator',
    },
  },
  mcp_tools: {
    kept: Object.fromEntries(
      ['server', 'tool', 'fingerprint', 'definition', 'pending_fingerprint', 'pending_definition'].map(
        (column) => [column, 'what tool servers offer'],
      ),
    ),
  },
  model_cooldowns: { kept: { provider: OPERATORS, model: OPERATORS, reason: WORD } },
  plugin_states: { kept: { name: OPERATORS } },
  replicas: { kept: { id: 'a replica', version: WORD } },
  schema_migrations: { kept: { name: WORD } },
  session_hours: { kept: { channel: OPERATORS, status: WORD } },
  session_tally: { kept: { channel: OPERATORS, status: WORD } },
};

/** Usage stays, without the name. */
function usage(): TablePlan {
  return {
    mine: 't.user_id = given.id',
    stays: true,
    hashed: ['user_id'],
    also: {
      set: `api_token = 'erased'`,
      where: `t.user_id = given.id AND t.api_token IN (
        SELECT k.name FROM api_tokens AS k WHERE k.user_id = given.id UNION SELECT given.id)`,
    },
    kept: {
      agent: OPERATORS,
      api_token: 'the name of a token; "erased" for one of the person',
      provider: OPERATORS,
      model: OPERATORS,
      channel: OPERATORS,
      key: WORD,
    },
  };
}

function words(text: string): readonly string[] {
  return text.split(' ');
}

/** Every column that the plan mentions. */
export function namedColumns({ goes = [], hashed = [], kept = {} }: TablePlan): ReadonlySet<string> {
  return new Set([...goes, ...hashed, ...Object.keys(kept)]);
}
