/** How a provider bills the input of one call, in estimated tokens. The three parts add up to `total`. */
export interface BilledInput {
  readonly total: number;
  /** Read from the cache. */
  readonly read: number;
  /** Written to the cache. */
  readonly written: number;
  /** Neither read nor written: paid in full and not kept. */
  readonly plain: number;
}

type Json = Readonly<Record<string, unknown>>;

interface Block {
  readonly text: string;
  readonly isBreakpoint: boolean;
}

/** Anthropic accepts this many breakpoints, and looks this many blocks back from each for a known prefix. */
const MAX_BREAKPOINTS = 4;
const LOOK_BACK = 20;
/** OpenAI caches multiples of this many tokens. */
const STEP = 128;
const BYTES_PER_TOKEN = 4;

/**
 * Bills requests as the providers do: Anthropic by the prefixes that end at `cache_control`, OpenAI (Chat and
 * Responses) by the longest prefix shared with an earlier call that has the same `prompt_cache_key`. Nothing expires.
 */
export class PrefixBilling {
  private readonly prefixes = new Set<string>();
  private readonly sent = new Map<string, string[]>();

  /** A prefix shorter than `minTokens` is not cached. */
  constructor(private readonly minTokens = 1024) {}

  /** Throws where Anthropic answers 400: too many breakpoints, or one in a place that does not allow it. */
  bill(body: Json): BilledInput {
    return 'max_tokens' in body && !('stream_options' in body)
      ? this.billBreakpoints(body)
      : this.billLongest(body);
  }

  private billBreakpoints(body: Json): BilledInput {
    const blocks = anthropicBlocks(body);
    const marks = blocks.flatMap(({ isBreakpoint }, index) => (isBreakpoint ? [index] : []));
    if (marks.length > MAX_BREAKPOINTS)
      throw new Error(`${marks.length} breakpoints; at most 4 are accepted`);
    const prefixes: string[] = [];
    for (const { text } of blocks) prefixes.push((prefixes.at(-1) ?? `${String(body['model'])}\n`) + text);
    const tokens = prefixes.map(tokensOf);
    const at = (index: number) => tokens[index] ?? 0;
    const known = marks
      .flatMap((mark) => Array.from({ length: Math.min(LOOK_BACK, mark + 1) }, (_, back) => mark - back))
      .filter((index) => this.prefixes.has(prefixes[index] ?? ''));
    const read = known.length === 0 ? 0 : at(Math.max(...known));
    const written = marks.filter((mark) => at(mark) >= this.minTokens);
    for (const mark of written) this.prefixes.add(prefixes[mark] ?? '');
    const upTo = written.length === 0 ? 0 : at(Math.max(...written));
    return parts(at(blocks.length - 1), read, Math.max(0, upTo - read));
  }

  private billLongest(body: Json): BilledInput {
    const key = JSON.stringify([body['model'], body['prompt_cache_key']]);
    const text = openAiText(body);
    const earlier = this.sent.get(key) ?? [];
    this.sent.set(key, [...earlier, text]);
    const shared = Math.max(0, ...earlier.map((one) => tokensOf(text.slice(0, sharedLength(one, text)))));
    const read = shared < this.minTokens ? 0 : Math.floor(shared / STEP) * STEP;
    return parts(tokensOf(text), read, 0);
  }
}

/** `usage` as Anthropic sends it in `message_start`. */
export function anthropicUsage({ read, written, plain }: BilledInput): Json {
  return { input_tokens: plain, cache_read_input_tokens: read, cache_creation_input_tokens: written };
}

/** `usage` as Chat Completions has it in its last chunk. */
export function chatUsage({ total, read }: BilledInput, output: number): Json {
  return {
    prompt_tokens: total,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: read },
  };
}

function parts(total: number, read: number, written: number): BilledInput {
  return { total, read, written, plain: total - read - written };
}

/** In Anthropic's order: tools, system, messages. Settings that change the prefix of the messages precede them. */
function anthropicBlocks(body: Json): Block[] {
  const { tools, system, messages, tool_choice, thinking, output_config } = body;
  const ofSystem = typeof system === 'string' ? [{ type: 'text', text: system }] : listOf(system);
  const shape = JSON.stringify({ tool_choice, thinking, output_config });
  return [
    ...listOf(tools).map(blockOf),
    ...ofSystem.map(blockOf),
    ...listOf(messages).flatMap(({ role, content }, index) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)).map(
        (part, place) => {
          const { text, isBreakpoint } = blockOf(part);
          const opening = index === 0 && place === 0 ? shape : '';
          return { text: `${opening}${place === 0 ? String(role) : ''}${text}`, isBreakpoint };
        },
      ),
    ),
  ];
}

function blockOf(block: Json): Block {
  const { cache_control, ...rest } = block;
  const isBreakpoint = cache_control !== undefined && cache_control !== null;
  if (isBreakpoint && (rest['type'] === 'thinking' || rest['type'] === 'redacted_thinking'))
    throw new Error('thinking takes no breakpoint');
  if (isBreakpoint && rest['type'] === 'text' && rest['text'] === '')
    throw new Error('an empty text takes no breakpoint');
  return { text: JSON.stringify(rest), isBreakpoint };
}

function openAiText({ tools, instructions, messages, input }: Json): string {
  const items = [...listOf(messages), ...(typeof input === 'string' ? [{ input }] : listOf(input))];
  return JSON.stringify([tools, instructions, ...items]);
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
