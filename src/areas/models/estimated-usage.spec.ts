import { modelRequest, userMessage } from '../../../test/harness/model-call.js';
import { addUsage, chargedUsage } from './estimated-usage.js';

describe('the usage of calls', () => {
  it('parts of input and output are added up, and stay absent when no call reported them', () => {
    const one = { input: 100, output: 10, cachedInput: 80, reasoning: 4 };
    const other = { input: 50, output: 5, cachedInput: 20, cacheWrite: 30 };
    expect(addUsage(one, other)).toEqual({
      input: 150,
      output: 15,
      cachedInput: 100,
      cacheWrite: 30,
      reasoning: 4,
    });
    expect(addUsage({ input: 1, output: 1 }, { input: 1, output: 1 })).toEqual({ input: 2, output: 2 });
  });

  it('an estimate of one count keeps the parts of the other', () => {
    const counted = { input: 100, output: 0, cachedInput: 80 };
    const usage = chargedUsage(counted, modelRequest([]), { text: 'four', calls: [] });
    expect(usage).toEqual({ input: 100, output: 1, cachedInput: 80, estimated: true });
  });

  it('what follows the history, and media that tools return, are estimated too', () => {
    const request = modelRequest([userMessage('x')]);
    const estimate = (more: Parameters<typeof modelRequest>[1], messages = request.messages) =>
      chargedUsage({ input: 0, output: 1 }, modelRequest(messages, more), { text: '', calls: [] }).input;
    expect(estimate({ trailing: 'a'.repeat(400) }) - estimate({})).toBe(100);
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const;
    const results = (parts: readonly (typeof image)[]) => [
      { role: 'tool' as const, results: [{ callId: 'a', content: '', parts, isError: false }] },
    ];
    expect(estimate({}, results([image])) - estimate({}, results([]))).toBe(1600);
  });
});
