import { Ajv, type ValidateFunction } from 'ajv';
import { Webhook } from 'standardwebhooks';
import { channelEnv, untilChannel } from '../harness/channels.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { SocketClient, type SocketFrame } from '../harness/socket-client.js';
import { TurnStream } from '../harness/turn-stream.js';
import { newSession } from './support/faces.js';

const SECRET = 'whsec_Y2FuYXJ5IHNlY3JldCBvZiBhIHdlYmhvb2sgY2hhbm5lbA==';

interface AsyncApi {
  channels: Record<string, { messages: Record<string, { payload: Record<string, unknown> }> }>;
  components: object;
}

let gateway: TestGateway;
let receiver: HookReceiver;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  gateway = await startTestGateway({
    env: channelEnv('desk', { type: 'webhook', secret: SECRET, allowed_users: '*' }),
  });
  gateway.tools.register({
    name: 'echo',
    description: 'For tests.',
    inputSchema: { type: 'object', additionalProperties: true },
    run: async (args) => JSON.stringify(args),
  });
  await untilChannel(gateway, 'desk', 'connected');
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

const origin = (profile: 'a' | 'b'): string => `http://127.0.0.1:${gateway.started.ports[profile]}`;

/** Checks the messages of one channel of the document, by their names. */
class Described {
  private readonly ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  private readonly known = new Map<string, ValidateFunction>();

  constructor(
    private readonly document: AsyncApi,
    private readonly channel: string,
  ) {}

  static async of(profile: 'a' | 'b', channel: string): Promise<Described> {
    const document = (await (await fetch(`${origin(profile)}/asyncapi.json`)).json()) as AsyncApi;
    return new Described(document, channel);
  }

  /** Throws when a message with this name does not match the document. */
  expect(name: string, message: unknown): void {
    const validate = this.known.get(name) ?? this.compile(name);
    this.known.set(name, validate);
    if (!validate(message)) throw new Error(`${name}: ${this.ajv.errorsText(validate.errors)}`);
  }

  private compile(name: string): ValidateFunction {
    const { payload } = this.document.channels[this.channel]!.messages[name]!;
    return this.ajv.compile({ ...payload, components: this.document.components });
  }
}

const camelCase = (kind: string): string =>
  kind.replace(/[._](\w)/g, (_whole, letter: string) => letter.toUpperCase());

describe.each(['a', 'b'] as const)('the AsyncAPI document of Profile %s', (profile) => {
  const openSocket = (id: string): Promise<SocketClient> =>
    SocketClient.open(`${origin(profile).replace('http', 'ws')}/ws/sessions/${id}`, {
      headers: { authorization: `Bearer ${gateway.token}` },
    });

  test('describes every frame of a session, in both directions', async () => {
    const described = await Described.of(profile, 'sessionSocket');
    const socket = await openSocket(await newSession(gateway.a));
    const send = (name: string, frame: SocketFrame): void => {
      described.expect(name, frame);
      socket.send(frame);
    };
    send('ping', { type: 'ping' });
    send('message', { type: 'message', content: 'Hello' });
    await socket.until('done');
    send('cancel', { type: 'cancel' });
    send('toolDecision', { type: 'tool_approval', approval_id: 'appr_unknown', decision: 'deny' });
    await socket.until('error');
    await socket.until('pong');
    for (const frame of socket.frames) described.expect(camelCase(frame.type), frame);
    expect(new Set(socket.frames.map(({ type }) => type))).toEqual(
      new Set(['pong', 'token', 'done', 'error']),
    );
    socket.socket.close();
  });

  test('forbids the frames that the gateway refuses', async () => {
    const described = await Described.of(profile, 'sessionSocket');
    for (const frame of [{ content: 'Hello' }, { type: 'message' }, { type: 'message', content: 'x', y: 1 }])
      expect(() => described.expect('message', frame)).toThrow();
    expect(() => described.expect('toolDecision', { type: 'tool_approval', decision: 'perhaps' })).toThrow();
  });

  test('describes the events of a turn', async () => {
    const described = await Described.of(profile, 'turnEvents');
    const url = `${gateway[profile].base}/sessions/${await newSession(gateway.a)}/messages`;
    const stream = await TurnStream.open(url, gateway.token, { body: { content: 'Hello' } });
    await stream.until('done');
    for (const { event, data } of stream.frames) described.expect(camelCase(event), data);
  });

  test('describes every delivery', async () => {
    const described = await Described.of(profile, 'deliveries');
    const before = receiver.attempts.length;
    const hook = await gateway[profile].post<{ id: string }>('/hooks', {
      url: receiver.url(),
      events: ['*'],
    });
    const id = await newSession(gateway.a);
    await gateway.a.post(`/sessions/${id}/messages`, { content: 'Hello' });
    await gateway.a.delete(`/sessions/${id}`);
    await gateway.b.patch('/config', { 'agent.max_turns': profile === 'a' ? 31 : 32 });
    await eventually(() => expect(receiver.attempts.length).toBeGreaterThanOrEqual(before + 5));
    for (const { json } of receiver.attempts.slice(before)) described.expect(camelCase(json.event), json);
    await gateway[profile].delete(`/hooks/${hook.body.id}`);
  });

  test('describes what programs post to a channel, and what they get', async () => {
    const described = await Described.of(profile, 'inbound');
    const message = { conversation: `ticket-${profile}`, user: 'ada', content: 'Hello' };
    described.expect('inboundMessage', message);
    const at = new Date();
    const body = JSON.stringify(message);
    const response = await fetch(`${origin(profile)}/inbound/desk`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': `in_${profile}`,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(SECRET).sign(`in_${profile}`, at, body),
      },
      body,
    });
    described.expect('inboundAnswer', await response.json());
  });
});

test('the AsyncAPI document of Profile B describes the events of the log', async () => {
  const described = await Described.of('b', 'logEvents');
  const url = `${gateway.b.base}/logs?stream=true&since=1h&level=trace`;
  const stream = await EventStream.open(url, gateway.token);
  await stream.until('log', 1);
  for (const line of stream.of('log')) described.expect('log', line);
  stream.close();
});
