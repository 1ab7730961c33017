import { anthropicUsage, chatUsage, PrefixBilling } from './prefix-billing.js';

const long = (letter: string) => letter.repeat(4000);
const mark = { cache_control: { type: 'ephemeral' } };
const text = (value: string, more = {}) => ({ type: 'text', text: value, ...more });

function anthropic(...content: object[]) {
  return {
    model: 'm',
    max_tokens: 9,
    system: [text(long('s'), mark)],
    messages: [{ role: 'user', content }],
  };
}

describe('a bill by prefixes', () => {
  it('Anthropic: a call writes what its breakpoints end, and the next one reads it', () => {
    const billing = new PrefixBilling(100);
    const first = billing.bill(anthropic(text(long('a'), mark), text('today')));
    expect(first).toMatchObject({ read: 0, plain: 7 });
    expect(first.written).toBe(first.total - 7);
    const second = billing.bill(anthropic(text(long('a')), text('b', mark), text('tomorrow')));
    expect(second.read).toBe(first.written);
    expect(second.plain + second.written).toBeLessThan(30);
    expect(anthropicUsage(second)).toMatchObject({ cache_read_input_tokens: second.read });
  });

  it('Anthropic: one byte changed before a breakpoint, and it is not read', () => {
    const billing = new PrefixBilling(100);
    const { written } = billing.bill(anthropic(text(long('a'), mark)));
    const changed = billing.bill(anthropic(text(`${long('a')}!`, mark)));
    expect(changed.read).toBeGreaterThan(900);
    expect(changed.read).toBeLessThan(written / 2 + 100);
  });

  it('Anthropic: five breakpoints are refused', () => {
    const five = anthropic(...Array.from({ length: 4 }, () => text('x', mark)));
    expect(() => new PrefixBilling().bill(five)).toThrow('at most 4');
  });

  it('OpenAI: the longest prefix of the same key counts, in steps of 128 tokens', () => {
    const billing = new PrefixBilling();
    const body = (key: string, ...contents: string[]) => ({
      model: 'm',
      prompt_cache_key: key,
      stream_options: {},
      messages: contents.map((content) => ({ role: 'user', content })),
    });
    billing.bill(body('k', long('a'), long('b')));
    const next = billing.bill(body('k', long('a'), long('b'), 'c'));
    expect(next.read % 128).toBe(0);
    expect(next.total - next.read).toBeLessThan(160);
    expect(chatUsage(next, 1)).toMatchObject({ prompt_tokens_details: { cached_tokens: next.read } });
    expect(billing.bill(body('other', long('a'), long('b'), 'c')).read).toBe(0);
  });
});
