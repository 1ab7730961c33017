import type { CommandBench } from './command-bench.js';

/** What a command does for a valid target, and for one that does not exist. */
export interface CommandRow {
  /** The words after the command's name. They create what the command acts on, anew for each run. */
  readonly words?: (bench: CommandBench) => readonly string[] | Promise<readonly string[]>;
  /** Standard output. Without it, that is empty, and the result is a remark on standard error. */
  readonly shows?: RegExp;
  readonly says?: RegExp;
  /** Fields of the object that `--json` prints. */
  readonly fields: readonly string[];
  /** Words that name something that does not exist: the command exits with 1. */
  readonly unknown?: readonly string[];
  readonly more?: Readonly<Record<string, string>>;
}

const SECRET = /^whsec_\S+\n$/;
const ADA = ['--issuer', 'https://login.example.com/', '--subject', 'ada'];
const TOKEN_FIELDS = ['id', 'name', 'scopes', 'revoked_at'];

/** Commands that work on the configured database. */
export const LOCAL_ROWS: Readonly<Record<string, CommandRow>> = {
  'config check': { shows: /^The configuration is valid/, fields: ['valid', 'warnings', 'problems'] },
  'config show': { shows: /^agent\.max_turns = \d+ {2}# /m, fields: ['settings', 'sources', 'marks'] },
  'config history': {
    words: ({ gateway }) => gateway.b.patch('/config', { 'agent.max_turns': 8 }).then(() => []),
    ...{ shows: /^ +\d+ {2}\S+ \S+Z {2}patch/, fields: ['changes'] },
  },
  'config rollback': {
    words: async ({ gateway }) => {
      await gateway.b.patch('/config', { 'agent.max_turns': 7 });
      return [];
    },
    ...{ says: /^Changed back: agent\.max_turns\.$/m, fields: ['changed'], unknown: ['999999'] },
  },
  'auth token create': { shows: /^agw_\S+\n$/, fields: [...TOKEN_FIELDS, 'token'] },
  'auth token mint': { shows: /^agw_\S+\n$/, fields: ['token'] },
  'auth token list': { shows: /^tok_\S+ +test /m, fields: ['tokens'] },
  'auth token revoke': {
    words: async (bench) => [await bench.token()],
    ...{ says: /is revoked\.$/m, fields: TOKEN_FIELDS, unknown: ['nobody'] },
  },
  'auth token rotate': {
    words: async (bench) => [await bench.token()],
    ...{ shows: /^agw_\S+\n$/, fields: [...TOKEN_FIELDS, 'token'], unknown: ['nobody'] },
  },
  'auth deny': { words: () => ADA, says: /is denied\.$/m, fields: ['issuer', 'subject'] },
  'auth denied': { shows: /ada of https:\/\/login\.example\.com\//, fields: ['denied'] },
  'auth allow': { words: () => ADA, says: /is allowed again\.$/m, fields: ['issuer', 'subject'] },
  'hooks list': {
    words: (bench) => bench.hook().then(() => []),
    ...{ shows: /^ID +STATE +WAITING/, fields: ['hooks'] },
  },
  'hooks deliveries': {
    words: async (bench) => [(await bench.delivery()).hook],
    ...{ shows: /session\.created/, fields: ['deliveries'], unknown: ['hook_x'] },
  },
  'hooks replay': {
    words: async (bench) => [await bench.hook()],
    ...{ says: /^\d+ deliveries go out again/, fields: ['id', 'replayed'], unknown: ['hook_x'] },
  },
  'hooks rotate-secret': {
    words: async (bench) => [await bench.hook()],
    ...{ shows: SECRET, fields: ['id', 'secret'], unknown: ['hook_x'] },
  },
  'hooks ping': {
    words: async (bench) => [await bench.hook()],
    ...{ says: /was answered with 200/, fields: ['event_id', 'status', 'last_status'], unknown: ['hook_x'] },
  },
  'memory list': {
    words: (bench) => bench.memory().then(() => ['--user', 'ada']),
    ...{ shows: /^\{"id":"mem_/, fields: ['memories'] },
  },
  'memory forget': {
    words: (bench) => bench.memory().then(() => ['--user', 'ada']),
    ...{ says: /^Forgotten: \d+ memories\.$/m, fields: ['forgotten'] },
  },
  'tools list': { shows: /^approved +own echo$/m, fields: ['tools'] },
  'tools approve': {
    words: () => ['own'],
    ...{ says: /^Nothing was in quarantine\.$/m, fields: ['approved'], unknown: ['nobody'] },
  },
  'tools pending': {
    words: (bench) => bench.approval().then(() => []),
    ...{ shows: /own__erase for "ada"/, fields: ['approvals'] },
  },
  'tools allow': {
    words: async (bench) => [await bench.approval()],
    ...{ says: /^The call is allowed\.$/m, fields: ['id', 'status'], unknown: ['appr_x'] },
  },
  'tools deny': {
    words: async (bench) => [await bench.approval()],
    ...{ says: /^The call is denied\.$/m, fields: ['id', 'status'], unknown: ['appr_x'] },
  },
  'tools questions': {
    words: (bench) => bench.question().then(() => []),
    ...{ shows: /asker__ask for "ada"/, fields: ['questions'] },
  },
  'tools answer': {
    words: async (bench) => [await bench.question(), '--decline'],
    ...{ says: /^The question is answered\.$/m, fields: ['id', 'status'], unknown: ['ques_x'] },
  },
  'agents list': { shows: /^default +\S/m, fields: ['items'] },
  usage: { words: (bench) => spent(bench), shows: /^DAY +TURNS/, fields: ['usage'] },
  'audit list': { shows: /^AT +ACTOR/, fields: ['items'] },
  'audit verify': { shows: /^All \d+ rows are as they were written/, fields: ['problems', 'rows', 'head'] },
  'user erase': {
    words: () => ['nobody', '--yes'],
    ...{ says: /^\d+ rows of this user were deleted/, fields: ['deleted', 'configuration'] },
  },
  'secrets rotate': {
    more: { GATEWAY_MASTER_KEY_PREVIOUS: 'the key that was before it, of many words' },
    ...{ says: /^\d+ secrets are sealed with the new key\.$/m, fields: ['resealed', 'unreadable'] },
  },
  migrate: { shows: /^Nothing to do: /, fields: ['migrations', 'database'] },
  doctor: { shows: /^gateway +ok/m, fields: ['parts'] },
};

/** Runs a turn today. */
async function spent(bench: CommandBench): Promise<readonly string[]> {
  const id = await bench.session();
  await bench.gateway.b.post(`/sessions/${id}/messages`, { content: 'Hello' });
  return [];
}

/** Commands that ask the gateway. */
export const REMOTE_ROWS: Readonly<Record<string, CommandRow>> = {
  status: { shows: /^(ok|healthy|degraded), version \S/, fields: ['health', 'now', 'totals', 'attention'] },
  doctor: { shows: /^database +ok/m, fields: ['parts'] },
  logs: { shows: /Z {2}info/, fields: ['entries'] },
  'sessions list': {
    words: (bench) => bench.session().then(() => []),
    ...{ shows: /^ID +USER +AGENT/, fields: ['items'] },
  },
  'sessions show': {
    words: async (bench) => [await bench.session()],
    ...{ shows: /^turn_count +0$/m, fields: ['id', 'user_id', 'running'], unknown: ['sess_x'] },
  },
  'sessions end': {
    words: async (bench) => [await bench.session()],
    ...{ says: /is terminated\.$/m, fields: ['id', 'status'], unknown: ['sess_x'] },
  },
  'agents list': { shows: /^default +\S/m, fields: ['items'] },
  'agents check': { shows: /^AGENT +MODEL/, fields: ['agents', 'cost_usd'], unknown: ['nobody'] },
  'channels list': { shows: /^api +api +connected/m, fields: ['items'] },
  'channels restart': {
    words: () => ['api'],
    ...{ says: /^api is reconnecting\.$/m, fields: ['name', 'status'], unknown: ['nobody'] },
  },
  'mcp list': { shows: /^own +stdio/m, fields: ['items'] },
  'mcp approve': {
    words: () => ['own'],
    ...{ says: /^Nothing was in quarantine\.$/m, fields: ['approved'], unknown: ['nobody'] },
  },
  'hooks list': {
    words: (bench) => bench.hook().then(() => []),
    ...{ shows: /^ID +STATE +WAITING/, fields: ['hooks'] },
  },
  'hooks deliveries': {
    words: async (bench) => [(await bench.delivery()).hook],
    ...{ shows: /session\.created/, fields: ['deliveries'], unknown: ['hook_x'] },
  },
  'hooks create': {
    words: ({ address }) => [address],
    ...{ shows: SECRET, fields: ['id', 'url', 'secret'], unknown: ['no-address'] },
  },
  'hooks delete': {
    words: async (bench) => [await bench.hook()],
    ...{ says: /is deleted\.$/m, fields: ['id', 'status'], unknown: ['hook_x'] },
  },
  'hooks redeliver': {
    words: async (bench) => [(await bench.delivery()).id],
    ...{ says: /^\S+ is \w+\.$/m, fields: ['id', 'status'], unknown: ['999999999'] },
  },
  'plugins list': { shows: /^measures +\S+ +loaded/m, fields: ['plugins'] },
  'plugins reload': plugin('loaded'),
  'plugins disable': plugin('disabled'),
  'plugins enable': plugin('loaded'),
  'skills list': { shows: /^NAME +FROM +NEEDS/, fields: ['skills'] },
  usage: { words: spent, shows: /^DAY +TURNS/, fields: ['usage'] },
  'audit list': { shows: /^AT +ACTOR/, fields: ['items'] },
  'approvals list': {
    words: (bench) => bench.approval().then(() => []),
    ...{ shows: /own__erase/, fields: ['items'] },
  },
  'approvals allow': {
    words: async (bench) => [await bench.approval()],
    ...{ says: /is allowed\.$/m, fields: ['id', 'status'], unknown: ['appr_x'] },
  },
  'approvals deny': {
    words: async (bench) => [await bench.approval()],
    ...{ says: /is denied\.$/m, fields: ['id', 'status'], unknown: ['appr_x'] },
  },
  // After the others, because a server that waits for a sign-in fails.
  'mcp sign-in': {
    words: async (bench) => [await bench.serverToSignInTo()],
    ...{
      shows: /^http:\S+code_challenge=\S+\n$/,
      fields: ['url', 'issuer', 'expires_at'],
      unknown: ['nobody'],
    },
  },
  'mcp sign-out': {
    words: async (bench) => [await bench.serverToSignInTo()],
    ...{ says: /^crm is signed out\.$/m, fields: ['name', 'status'], unknown: ['nobody'] },
  },
  // Last, because connected callers lose the server for a moment.
  'mcp reconnect': {
    words: () => ['own'],
    ...{ says: /^own is reconnecting\.$/m, fields: ['name', 'status'], unknown: ['nobody'] },
  },
};

function plugin(status: string): CommandRow {
  return {
    words: () => ['measures'],
    ...{
      says: new RegExp(`^measures is ${status}\\.$`, 'm'),
      fields: ['name', 'status'],
      unknown: ['nobody'],
    },
  };
}
