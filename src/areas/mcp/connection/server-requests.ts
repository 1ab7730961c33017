import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Client,
  type ClientCapabilities,
  type ElicitRequestParams,
  type ElicitResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/client';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { Logger } from '../../../platform/logging/logger.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { formOf, type QuestionOutcome, type ToolQuestion } from '../../tools/tools.api.js';
import type { OpenCall, OpenCalls } from './open-calls.js';
import { type SamplingParams, type SamplingResult, samplingOf } from './sampling-request.js';
import { shownSchema, shownText } from './shown-text.js';

const MAX_MESSAGE = 4096;
const MAX_URL = 2048;
/** How often a connection logs that questions were declined. */
const TOLD_MS = 60_000;

/** What it takes to answer a server's requests. */
export interface ServerRequestParts {
  readonly settings: McpServerSettings;
  readonly logger: Logger;
  readonly redact: (text: string) => string;
  /** The folders that the server is told of; empty for none. */
  readonly roots: readonly string[];
  /** How long a question waits for a person, in milliseconds. */
  questionTimeoutMs(): number;
  /** Redacts known secrets. */
  hideKnown(text: string): string;
}

/** Handles what a server asks for while it runs a call. Requests that belong to no call are not served. */
export class ServerRequests {
  private toldAt = Number.NEGATIVE_INFINITY;
  private untold = 0;

  constructor(
    private readonly parts: ServerRequestParts,
    private readonly calls: OpenCalls,
  ) {}

  /**
   * What is declared to the server; the same on the connection that lists the tools, because servers choose their tools
   * by it.
   */
  static capabilitiesFor(
    { elicitation, sampling }: McpServerSettings,
    roots: readonly string[],
  ): ClientCapabilities {
    return {
      ...(elicitation ? { elicitation: { form: { applyDefaults: true }, url: {} } } : {}),
      ...(sampling ? { sampling: {} } : {}),
      ...(roots.length > 0 ? { roots: {} } : {}),
    };
  }

  /** Called before the handshake. */
  answerThoseOf(client: Client): void {
    const { settings, roots } = this.parts;
    if (settings.elicitation) {
      client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
        this.elicit(params, mcpReq.signal),
      );
    }
    if (settings.sampling) {
      client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
        this.sample(params, mcpReq.signal),
      );
    }
    if (roots.length > 0) {
      const listed = roots.map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) }));
      client.setRequestHandler('roots/list', () => ({ roots: listed }));
    }
  }

  /** The model of the turn answers, within the turn's limits; without a turn nobody does. */
  private async sample(params: SamplingParams, withdrawn: AbortSignal): Promise<SamplingResult> {
    const call = this.calls.current();
    const ask = call?.context?.call;
    if (call === undefined || ask === undefined) {
      this.tellOfDeclined();
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        'The model is asked only for a call of which it is known whose it is.',
      );
    }
    const question = samplingOf(params, (text) => this.parts.hideKnown(text));
    try {
      const { text, model, finishReason } = await held(call, () =>
        ask.sample(question, AbortSignal.any([call.signal, withdrawn])),
      );
      const stopReason = finishReason === 'length' ? 'maxTokens' : 'endTurn';
      return { role: 'assistant', content: { type: 'text', text }, model, stopReason };
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        `The model gave no answer: ${this.parts.hideKnown(sentenceOf(error))}`,
      );
    }
  }

  /** A question is declined when nobody can be asked. An invalid question is refused, so that its author learns why. */
  private async elicit(params: ElicitRequestParams, withdrawn: AbortSignal): Promise<ElicitResult> {
    const call = this.calls.current();
    const ask = call?.context?.call;
    if (call === undefined || ask === undefined) {
      this.tellOfDeclined();
      return { action: 'decline' };
    }
    const question = this.questionOf(params);
    const outcome = await held(call, () =>
      ask.ask(question, AbortSignal.any([call.signal, withdrawn])).catch((error: unknown) => {
        if (!call.signal.aborted && !withdrawn.aborted) throw error;
        return { action: 'cancel' } satisfies QuestionOutcome;
      }),
    );
    return outcome.action === 'accept' && question.url === undefined
      ? { action: 'accept', content: (outcome.content ?? {}) as NonNullable<ElicitResult['content']> }
      : { action: outcome.action };
  }

  /** A server may ask as often as it likes; the log does not grow with it. */
  private tellOfDeclined(): void {
    this.untold += 1;
    const now = performance.now();
    if (now - this.toldAt < TOLD_MS) return;
    this.parts.logger.warn(
      'a question of the server was declined: it belongs to no call, or calls of several sessions run on its connection; isolation = "session" keeps them apart',
      { questions: this.untold },
    );
    this.toldAt = now;
    this.untold = 0;
  }

  private questionOf(params: ElicitRequestParams): ToolQuestion {
    const { message } = params;
    if (message.length > MAX_MESSAGE) throw refused(`its message has more than ${MAX_MESSAGE} characters`);
    const hide = (text: string): string => this.parts.hideKnown(text);
    const shown = { message: shownText(message, hide), timeoutMs: this.parts.questionTimeoutMs() };
    if (params.mode === 'url') {
      if (!isWebPage(params.url)) throw refused('its URL is none of http or https');
      return { ...shown, url: params.url, schema: { type: 'object', properties: {} } };
    }
    const { requestedSchema: schema } = params;
    try {
      formOf(schema);
    } catch (error) {
      throw refused(sentenceOf(error));
    }
    return { ...shown, schema: shownSchema(schema, hide) };
  }
}

/** While a person thinks, the server may be silent. */
async function held<Result>({ silence }: OpenCall, work: () => Promise<Result>): Promise<Result> {
  const goOn = silence.hold();
  try {
    return await work();
  } finally {
    goOn();
    silence.restart();
  }
}

function refused(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Nobody can be asked this: ${problem}.`);
}

function isWebPage(url: string): boolean {
  if (url.length > MAX_URL || !URL.canParse(url)) return false;
  return ['http:', 'https:'].includes(new URL(url).protocol);
}
