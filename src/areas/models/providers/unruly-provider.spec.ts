import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  callOptions,
  collect,
  endOf,
  modelRequest,
  rejection,
  textOf,
  userMessage,
} from '../../../../test/harness/model-call.js';
import { answerWith, connect, type WireFrames, wires } from '../../../../test/harness/provider-wires.js';
import {
  beginStream,
  frame,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../../../test/harness/scripted-provider.js';
import type { ModelCallOptions, ModelEvent, ModelProvider } from '../model-provider.port.js';

let server: ScriptedProvider;

beforeAll(async () => {
  server = await startScriptedProvider();
});
afterAll(() => server.stop());

const request = modelRequest([userMessage('hello')]);

function ask(provider: ModelProvider, options: Partial<ModelCallOptions> = {}): Promise<ModelEvent[]> {
  return collect(provider.stream(request, callOptions(options)));
}

function wholeAnswer(wire: WireFrames, ...texts: string[]): string {
  return [...wire.opening, ...texts.map((text) => wire.text(text)), ...wire.closing].map(frame).join('');
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let count = 0; !isTrue(); count += 1) {
    if (count > 1000) throw new Error('It did not come true.');
    await pause(5);
  }
}

describe.each(wires)('a provider on the $kind wire', (wire) => {
  let provider: ModelProvider;

  beforeEach(async () => {
    // What an earlier test's provider keeps is not taken for a connection of this one.
    server.closeUnused();
    provider = await connect(wire, server.url);
  });

  it('may send its answer byte by byte, in the middle of characters', async () => {
    const bytes = Buffer.from(wholeAnswer(wire, 'Grüezi ', '你好 🙂'));
    server.script((response) => {
      beginStream(response);
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });
    expect(textOf(await ask(provider))).toBe('Grüezi 你好 🙂');
  });

  it('may end its lines with CR LF and put comments between', async () => {
    server.script((response) => {
      beginStream(response, ': hello\r\n\r\n', wholeAnswer(wire, 'fine').replaceAll('\n', '\r\n'));
      response.end();
    });
    expect(textOf(await ask(provider))).toBe('fine');
  });

  it('that ends in the middle of a frame has failed', async () => {
    server.script((response) => {
      beginStream(response, ...wire.opening, wire.text('Half an ans'), frame(wire.text('wer')).slice(0, -20));
      response.end();
    });
    const error = await rejection(ask(provider));
    expect(error).toMatchObject({ status: 502, details: { reason: 'provider_stream_cut' } });
    expect(server.requests).toHaveLength(1);
  });

  it('that breaks the connection before its first word is asked again', async () => {
    server.script(
      (response) => {
        beginStream(response, ...wire.opening);
        setTimeout(() => response.destroy(), 10);
      },
      answerWith(wire, 'here'),
    );
    const events = await ask(provider);
    expect(textOf(events)).toBe('here');
    expect(endOf(events).usage).toEqual({ input: 3, output: 2 });
    expect(server.requests).toHaveLength(2);
  });

  it('that reports an error before its first word is asked again; after it, it has failed', async () => {
    server.script(
      (response) => {
        response.end(frame(wire.overloaded));
      },
      answerWith(wire, 'here'),
    );
    expect(textOf(await ask(provider))).toBe('here');
    server.script((response) => {
      beginStream(response, ...wire.opening, wire.text('We'), wire.overloaded);
      response.end();
    });
    expect(await rejection(ask(provider))).toMatchObject({
      message: `The model provider ${wire.kind} broke off its answer: Overloaded.`,
      details: { reason: wire.kind === 'openai' ? 'provider_error' : 'provider_overloaded' },
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each(['text/html', 'application/json'])(
    'that answers with %s is not taken for a model',
    async (type) => {
      server.script((response) => {
        response.writeHead(200, { 'content-type': type }).end('<html>{}</html>');
      });
      const error = (await rejection(ask(provider))) as Error;
      expect(error).toMatchObject({ details: { reason: 'provider_error' } });
      expect(error.message).toContain('provider.base_url');
      expect(server.requests).toHaveLength(1);
    },
  );

  it('that does not send JSON has failed, and nothing of its answer is logged', async () => {
    const print = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    server.script((response) => {
      beginStream(response, ...wire.opening, 'event: thread.x\ndata: {nonsense\n\n');
      response.end();
    });
    expect(await rejection(ask(provider))).toMatchObject({ details: { reason: 'provider_error' } });
    expect(print).not.toHaveBeenCalled();
    print.mockRestore();
  });

  it('that has finished but keeps its connection open counts as finished', async () => {
    server.script((response) => beginStream(response, ...wire.opening, wire.text('done'), ...wire.closing));
    const events = await ask(provider, { idleTimeoutMs: 100 });
    expect(textOf(events)).toBe('done');
    expect(endOf(events)).toMatchObject({ finishReason: 'stop', usage: { input: 3, output: 2 } });
    await until(() => server.openSockets() === 0);
  });

  it('that redirects is not followed', async () => {
    server.script((response) => {
      response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    });
    expect(await rejection(ask(provider))).toMatchObject({
      message: `The model provider ${wire.kind} redirected the call (307). Set provider.base_url to the final address.`,
    });
    expect(server.requests).toHaveLength(1);
  });

  it("that cannot be reached is reported with the system's error code", async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await until(() => gone.listening);
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const error = await rejection(ask(await connect(wire, `http://127.0.0.1:${port}`)));
    expect(error).toMatchObject({
      message: `The model provider ${wire.kind} could not be reached (ECONNREFUSED).`,
      details: { reason: 'provider_unreachable' },
    });
  });

  describe('the limits of a provider', () => {
    it('the text of an answer is bounded', async () => {
      const megabyte = 'x'.repeat(1024 * 1024);
      server.script((response) => {
        beginStream(response, ...wire.opening, ...Array.from({ length: 5 }, () => wire.text(megabyte)));
      });
      let length = 0;
      const error = await rejection(
        (async () => {
          for await (const event of provider.stream(request, callOptions())) {
            if (event.type === 'token') length += event.text.length;
          }
        })(),
      );
      expect(error).toMatchObject({ status: 502, details: { reason: 'provider_answer_too_large' } });
      expect(length).toBe(4 * 1024 * 1024);
      await until(() => server.openSockets() === 0);
    });

    it('the arguments of its tool calls are bounded', async () => {
      const piece = ' '.repeat(300 * 1024);
      server.script((response) => {
        beginStream(response, ...wire.opening);
        for (let count = 0; count < 6; count += 1) response.write(frame(wire.argument(piece, count === 0)));
      });
      const error = await rejection(ask(provider));
      expect(error).toMatchObject({ details: { reason: 'provider_answer_too_large' } });
      expect(server.requests).toHaveLength(1);
    });

    it.each(['no line at all', 'comments', 'lines without an event'])(
      'a flood of %s is bounded',
      async (what) => {
        const line =
          { 'no line at all': 'x', comments: ': x\n', 'lines without an event': 'data: x\n' }[what] ?? '';
        const flood = line.repeat(256 * 1024);
        server.script((response) => {
          beginStream(response, ...wire.opening);
          const pour = (): void => {
            if (response.destroyed) return;
            response.write(flood, pour);
          };
          pour();
        });
        const error = await rejection(ask(provider));
        expect(error).toMatchObject({ details: { reason: 'provider_answer_too_large' } });
        await until(() => server.openSockets() === 0);
      },
    );

    it('the body of an error is not read to its end', async () => {
      provider = await connect(wire, server.url, { maxRetries: 0 });
      server.script((response) => {
        response.writeHead(500, { 'content-type': 'text/plain' });
        const pour = (): void => {
          if (!response.destroyed) response.write('e'.repeat(64 * 1024), pour);
        };
        pour();
      });
      const error = (await rejection(ask(provider))) as Error;
      expect(error).toMatchObject({ details: { reason: 'provider_error' } });
      expect(error.message.length).toBeLessThan(300);
      await until(() => server.openSockets() === 0);
    });

    it('a consumer that stops reading stops the provider too', async () => {
      const chunk = frame(wire.text('y'.repeat(16 * 1024)));
      let sent = 0;
      server.script((response) => {
        beginStream(response, ...wire.opening);
        const pour = (): void => {
          if (response.destroyed || sent > 64 * 1024 * 1024) return;
          sent += chunk.length;
          response.write(chunk, pour);
        };
        pour();
      });
      for await (const event of provider.stream(request, callOptions())) {
        if (event.type !== 'token') continue;
        let before = -1;
        while (before !== sent) {
          before = sent;
          await pause(100);
        }
        break;
      }
      expect(sent).toBeLessThan(16 * 1024 * 1024);
      await until(() => server.openSockets() === 0);
    });
  });

  describe('the time-outs of a provider', () => {
    it('a frame that drips without ever being complete does not count as progress', async () => {
      server.script((response) => {
        beginStream(response, ...wire.opening, wire.text('one'));
        const drip = setInterval(() => response.write('d'), 10);
        response.on('close', () => clearInterval(drip));
      });
      const error = await rejection(ask(provider, { idleTimeoutMs: 150 }));
      expect(error).toMatchObject({ status: 504, details: { reason: 'provider_idle_timeout' } });
      await until(() => server.openSockets() === 0);
    });

    it('keep-alive lines count as progress once the answer has begun', async () => {
      server.script(async (response) => {
        beginStream(response, ...wire.opening, wire.text('slow '));
        for (let count = 0; count < 8; count += 1) {
          await pause(50);
          response.write(': keep-alive\n\n');
        }
        beginStream(response, wire.text('answer'), ...wire.closing);
        response.end();
      });
      expect(textOf(await ask(provider, { idleTimeoutMs: 200 }))).toBe('slow answer');
    });

    it('keep-alive lines alone do not count as the start of an answer', async () => {
      server.script((response) => {
        beginStream(response);
        const drip = setInterval(() => response.write(': keep-alive\n\n'), 10);
        response.on('close', () => clearInterval(drip));
      });
      const error = await rejection(ask(provider, { firstByteTimeoutMs: 150 }));
      expect(error).toMatchObject({ status: 504, details: { reason: 'provider_first_byte_timeout' } });
      expect(server.requests).toHaveLength(1);
    });

    it('time that the consumer takes does not count against the provider', async () => {
      server.script(answerWith(wire, 'quick'));
      const options = callOptions({ idleTimeoutMs: 60, firstByteTimeoutMs: 2000 });
      const events: ModelEvent[] = [];
      for await (const event of provider.stream(request, options)) {
        await pause(120);
        events.push(event);
      }
      expect(textOf(events)).toBe('quick');
      endOf(events);
    });
  });

  describe('a caller that leaves', () => {
    const hang = (): void =>
      server.script((response) => beginStream(response, ...wire.opening, wire.text('one')));

    it('an abort before the call sends nothing', async () => {
      server.script(answerWith(wire, 'never'));
      const reason = new Error('too late');
      expect(await rejection(ask(provider, { signal: AbortSignal.abort(reason) }))).toBe(reason);
      expect(server.requests).toHaveLength(0);
    });

    it.each(['before the headers', 'in the stream'])('an abort %s closes the connection', async (when) => {
      if (when === 'in the stream') hang();
      else server.script(() => undefined);
      const abort = new AbortController();
      const reason = new Error('enough');
      const asked = rejection(ask(provider, { signal: abort.signal }));
      await until(() => server.requests.length === 1);
      abort.abort(reason);
      expect(await asked).toBe(reason);
      await until(() => server.openSockets() === 0);
      const made = server.madeSockets();
      await pause(50);
      expect(server.madeSockets()).toBe(made);
    });

    it('an abort ends the wait before the next attempt', async () => {
      provider = await connect(wire, server.url);
      server.script((response) => {
        response.writeHead(503, { 'retry-after': '25' }).end();
      });
      const abort = new AbortController();
      const reason = new Error('enough');
      const asked = rejection(ask(provider, { signal: abort.signal }));
      await until(() => server.requests.length === 1);
      await pause(50);
      abort.abort(reason);
      expect(await asked).toBe(reason);
      expect(server.requests).toHaveLength(1);
    });

    it('leaving the loop closes the connection', async () => {
      hang();
      for await (const event of provider.stream(request, callOptions())) if (event.type === 'token') break;
      await until(() => server.openSockets() === 0);
    });

    it('return() ends a call while its next event is awaited', async () => {
      hang();
      const events = provider.stream(request, callOptions())[Symbol.asyncIterator]();
      expect(await events.next()).toMatchObject({ value: { type: 'token', text: 'one' } });
      const pending = events.next();
      await events.return?.();
      expect(await pending).toEqual({ done: true, value: undefined });
      await until(() => server.openSockets() === 0);
    });

    it('many calls leave no listeners on a signal that outlives them', async () => {
      server.script(answerWith(wire, 'ok'));
      const { signal } = new AbortController();
      const added = jest.spyOn(signal, 'addEventListener');
      const removed = jest.spyOn(signal, 'removeEventListener');
      for (let count = 0; count < 3; count += 1) await ask(provider, { signal });
      expect(added.mock.calls.length).toBeGreaterThan(0);
      expect(removed.mock.calls.length).toBe(added.mock.calls.length);
    });
  });

  describe('the connections of a provider', () => {
    beforeEach(async () => {
      await until(() => server.openSockets() <= 1);
    });

    it('the next call uses the same one, even when its reader leaves at the end event', async () => {
      server.script(answerWith(wire, 'ok'));
      await ask(provider);
      const made = server.madeSockets();
      for (let count = 0; count < 3; count += 1) {
        for await (const event of provider.stream(request, callOptions())) if (event.type === 'end') break;
      }
      expect(server.madeSockets()).toBe(made);
    });

    it('a request that is reset on a used connection is an attempt like any other', async () => {
      const reset = (response: ServerResponse): void => void response.socket?.resetAndDestroy();
      provider = await connect(wire, server.url, { maxRetries: 0 });
      server.script(answerWith(wire, 'ok'));
      await ask(provider);
      server.script(reset, answerWith(wire, 'again'));
      expect(((await rejection(ask(provider))) as Error).message).toContain('ECONNRESET');
      expect(server.requests).toHaveLength(1);
      provider = await connect(wire, server.url, { maxRetries: 1 });
      server.script(answerWith(wire, 'ok'));
      await ask(provider);
      server.script(reset, answerWith(wire, 'again'));
      expect(textOf(await ask(provider))).toBe('again');
      expect(server.requests).toHaveLength(2);
    });
  });

  describe('secrets of a provider', () => {
    it.each([400, 401, 403, 429, 500])(
      'no message shows the key that an answer with %i repeats',
      async (status) => {
        provider = await connect(wire, server.url, { maxRetries: 0 });
        server.script((response) => {
          const message = `Bad key secret-key-4711,\nsee https://me:pass@example.com/ ${'blah '.repeat(200)}`;
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ error: { message, type: 'x' } }));
        });
        const error = (await rejection(ask(provider))) as Error;
        expect(error.message).not.toMatch(/secret-key|4711|pass|\n/);
        expect(error.message.length).toBeLessThan(320);
        expect(error.cause).toBeUndefined();
      },
    );

    it('nothing is taken from the environment', async () => {
      const planted = {
        OPENAI_BASE_URL: 'http://127.0.0.1:9/',
        OPENAI_ORG_ID: 'planted-org',
        OPENAI_PROJECT_ID: 'planted-project',
        OPENAI_ADMIN_KEY: 'planted-admin',
        OPENAI_API_KEY: 'planted-key',
        OPENAI_CUSTOM_HEADERS: 'x-planted: planted-header',
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/',
        ANTHROPIC_API_KEY: 'planted-key',
        ANTHROPIC_AUTH_TOKEN: 'planted-token',
        ANTHROPIC_CUSTOM_HEADERS: 'x-planted: planted-header',
      };
      const before = { ...process.env };
      Object.assign(process.env, planted);
      const keyless = await connect(wire, server.url, {}, '');
      process.env = before;
      server.script(answerWith(wire, 'ok'));
      await ask(keyless);
      const [seen] = server.requests;
      expect(seen?.headers).not.toHaveProperty('authorization');
      expect(JSON.stringify(seen)).not.toMatch(/planted|stainless/i);
    });
  });
});
