import { eventually } from './eventually.js';
import { startTestGateway, type TestGateway } from './gateway.js';
import { HookReceiver } from './hook-receiver.js';
import { asking, McpBench, scripted, serverB } from './mcp.js';
import { SignInWorld } from './sign-in-world.js';

const KEY = 'a master key that only tests may use';
const SETTINGS = `
[gateway]
public_url = "https://agents.example.com"

[agent]
tool_approval = "ask"
tool_approval_timeout_ms = 120000
`;
const FORM = {
  mode: 'form',
  message: 'Which day?',
  requestedSchema: { type: 'object', properties: { date: { type: 'string' } } },
};

interface Listed {
  readonly items: readonly { readonly id: string; readonly session_id: string; readonly tool: string }[];
}

/** A gateway with something for every command to act on. Each run gets new things. */
export class CommandBench {
  private made = 0;

  private constructor(
    readonly gateway: TestGateway,
    private readonly receiver: HookReceiver,
    private readonly servers: McpBench,
    private readonly world: SignInWorld,
  ) {}

  static async open(more: Readonly<Record<string, string>>): Promise<CommandBench> {
    const mark = String(process.pid);
    const world = await SignInWorld.open('ada');
    const crm = { transport: 'http', url: world.server.url, oauth_sign_in: true, enabled: false };
    const tables = { own: scripted(`rows-${mark}`), asker: asking(`rows-asker-${mark}`), crm };
    const servers = await McpBench.make(tables, SETTINGS);
    const receiver = await HookReceiver.open();
    const gateway = await startTestGateway({ env: { ...servers.env, ...more } });
    await eventually(async () => {
      for (const name of ['own', 'asker']) expect((await serverB(gateway, name))?.status).toBe('connected');
    }, 60_000);
    return new CommandBench(gateway, receiver, servers, world);
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.receiver.close();
    await this.servers.clear();
    await this.world.close();
  }

  /** Environment of a command that asks the gateway. */
  get remote(): Record<string, string> {
    const url = `http://127.0.0.1:${this.gateway.started.ports.b}`;
    return { AGENT_GATEWAY_URL: url, AGENT_GATEWAY_TOKEN: this.gateway.token };
  }

  /** Environment of a command that works on the gateway's database. */
  get local(): Record<string, string> {
    return {
      ...this.servers.env,
      DATABASE_URL: this.gateway.database.url,
      GATEWAY_DATA_DIR: this.servers.folder,
      GATEWAY_MASTER_KEY: KEY,
      GATEWAY__GATEWAY__MANAGEMENT_PORT: String(this.gateway.started.ports.operations),
    };
  }

  /** The answer to the last message that led to a question. */
  private asked: Promise<unknown> = Promise.resolve();

  get address(): string {
    return this.receiver.url();
  }

  /** Configures the server only now: nobody is signed in to it. */
  async serverToSignInTo(): Promise<string> {
    await this.gateway.b.patch('/config', { 'mcp.servers.crm.enabled': true });
    await eventually(async () => expect(await serverB(this.gateway, 'crm')).toBeDefined());
    return 'crm';
  }

  async session(): Promise<string> {
    return (await this.gateway.b.post<{ id: string }>('/sessions', { user_id: 'ada' })).body.id;
  }

  /** The name of a new token. */
  async token(): Promise<string> {
    this.made += 1;
    const name = `token-${this.made}`;
    await this.gateway.mint({ name });
    return name;
  }

  async hook(): Promise<string> {
    const wish = { url: this.address, events: ['session.created'], secret: 'a secret of sixteen or more' };
    return (await this.gateway.a.post<{ id: string }>('/hooks', wish)).body.id;
  }

  /** A webhook with a delivery. @returns both their ids */
  async delivery(): Promise<{ readonly hook: string; readonly id: string }> {
    const hook = await this.hook();
    await this.session();
    let id: string | undefined;
    await eventually(async () => {
      id = (await this.gateway.admin.get<Listed>(`/deliveries?hook=${hook}`)).body.items[0]?.id;
      expect(id).toBeDefined();
    });
    return { hook, id: id ?? '' };
  }

  async memory(): Promise<void> {
    this.made += 1;
    await this.gateway.database.query(
      `INSERT INTO memory_entries (id, user_id, content, digest, words, session_id)
       VALUES ('mem_' || $1::text, 'ada', 'Ada likes tea.', 'tea' || $1::text, array_to_tsvector(ARRAY['tea']), 'sess_gone')`,
      [String(this.made)],
    );
  }

  /** A tool call that waits for a person. */
  approval(): Promise<string> {
    return this.waiting('own__erase', { text: 'all' }, 'approvals');
  }

  /**
   * A question that waits for a person. While another call runs on the server's connection, a question cannot be
   * assigned to a call and is declined.
   */
  async question(): Promise<string> {
    const { items } = (await this.gateway.admin.get<Listed>('/questions?status=pending')).body;
    for (const { id } of items)
      await this.gateway.admin.post(`/questions/${id}/answer`, { action: 'decline' });
    await this.asked;
    return this.waiting('asker__ask', FORM, 'questions');
  }

  private async waiting(tool: string, args: object, where: 'approvals' | 'questions'): Promise<string> {
    const session = await this.session();
    // The message is answered when the person decides, or never.
    const answered = this.gateway.b
      .post(`/sessions/${session}/messages`, { content: `/call ${tool} ${JSON.stringify(args)}` })
      .catch(() => undefined);
    if (where === 'questions') this.asked = answered;
    let id: string | undefined;
    await eventually(async () => {
      if (where === 'questions') await this.allowIn(session);
      const { items } = (await this.gateway.admin.get<Listed>(`/${where}?status=pending`)).body;
      id = items.find((one) => one.session_id === session)?.id;
      expect(id).toBeDefined();
    }, 20_000);
    return id ?? '';
  }

  /** The call that asks must first be approved. */
  private async allowIn(session: string): Promise<void> {
    const { items } = (await this.gateway.admin.get<Listed>('/approvals?status=pending')).body;
    const waiting = items.find((one) => one.session_id === session);
    if (waiting === undefined) return;
    await this.gateway.admin.post(`/approvals/${waiting.id}/decision`, { decision: 'allow' });
  }
}
