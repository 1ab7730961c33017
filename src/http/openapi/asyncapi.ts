import { publicName } from './schemas.js';

type Json = Readonly<Record<string, unknown>>;

/** A channel with its messages, as AsyncAPI 3 has them, and the operations on it. */
export interface DescribedChannel {
  readonly channel: Json & { readonly messages: Json };
  readonly operations: Json;
}

/** A message of AsyncAPI whose payload is JSON of this schema. */
export function message(summary: string, payload: Json, headers?: Json): Json {
  return { summary, ...(headers === undefined ? {} : { headers }), payload };
}

export function schemaReference(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** `tool_call` is called `toolCall` in the document. */
export function camelCase(kind: string): string {
  return kind.replace(/[._](\w)/g, (_whole, letter: string) => letter.toUpperCase());
}

/** What the gateway does with messages of a channel: `send` or `receive`. */
export function operation(
  action: 'send' | 'receive',
  channel: string,
  messages: readonly string[],
  about: { readonly summary: string; readonly description?: string },
): Json {
  return {
    action,
    channel: { $ref: `#/channels/${channel}` },
    ...about,
    messages: messages.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  };
}

type Kinds = Readonly<Record<string, { readonly name: string } | 'error'>>;

/** A stream of Server-Sent Events with a message for each kind. */
export function stream(name: string, kinds: Kinds, about: Json): DescribedChannel {
  const messages = Object.fromEntries(
    Object.entries(kinds).map(([kind, type]) => {
      const schema = type === 'error' ? 'ErrorEnvelope' : publicName(type.name);
      return [camelCase(kind), message(`event: ${kind}`, schemaReference(schema))];
    }),
  );
  return {
    channel: { ...about, messages },
    operations: {
      [`send_${name}`]: operation('send', name, Object.keys(messages), { summary: String(about['title']) }),
    },
  };
}

const text = { type: 'string' };
/** Standard Webhooks: the same three headers in both directions. */
export const SIGNATURE_HEADERS = {
  'webhook-id': { ...text, description: 'The same for every attempt' },
  'webhook-timestamp': { ...text, description: 'Unix seconds of the attempt', pattern: '^\\d+$' },
  'webhook-signature': { ...text, description: '`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`' },
};
