interface Shown {
  readonly feature: string;
  readonly file: string;
  readonly title: string;
}

interface ClientRows {
  readonly client: string;
  readonly shown: readonly Shown[];
}

const rows = (file: string, titles: Readonly<Record<string, string>>, folder = 'e2e'): Shown[] =>
  Object.entries(titles).map(([feature, title]) => ({
    feature,
    file: `test/${folder}/${file}.spec.ts`,
    title,
  }));

/** Title of a test of `openai/responses` that refuses a parameter by name. */
const named = (param: string): string => `"What is not supported is 400 naming the parameter": ${param}`;

/** Which test shows which feature of which client. Only what the client itself sends and reads counts. */
export const CLIENTS: readonly ClientRows[] = [
  {
    client: '`openai` (npm), chat completions',
    shown: [
      ...rows('openai/chat-completions', {
        models: '"/v1/models lists the agents that the caller may use"',
        create: '"the messages are the history": the agent answers them under its own system prompt',
        stream: '"Streaming": chunks as the SDK reads them, with usage when it is asked for',
        tools: 'the model is offered them, its calls are the answer, and it goes on with their outputs',
        'tools, by the runner': 'streamed, and through the runner of the SDK',
        parse: '"response_format": the answer is JSON of the schema, as the SDK parses it',
        'pictures and files': 'pictures and files reach the model',
        'unknown models': 'the model nobody is 404',
        'a token for other agents': 'an agent that the token may not use is 403, be it there or not',
      }),
      ...rows('openai/chat-sessions', {
        'going on with a session':
          '"continues a session": it has the history, and what stands behind the last answer is said now',
        'tools, in a session':
          '"tools (client-run)": the session waits with the calls, and goes on with their outputs once',
      }),
    ],
  },
  {
    client: '`openai` (npm), responses',
    shown: [
      ...rows('openai/stored-responses', {
        create: '"store": a response is kept unless it is said otherwise, and is found as it was answered',
        previous_response_id:
          '"`previous_response_id`": a chain is a session, and what was said before is known',
        stream: 'stream: the events, and the stored response once more from any of them on',
        parse: 'parse: the answer is JSON of the schema, and stays so',
        background: '"`background`": answered at once, found until it is done, and followed meanwhile',
        'background, streamed': '`background` with `stream`: the events of its turn',
        cancel: 'cancel: a response that runs, and one that waits in line; what is over stays as it is',
        delete: 'DELETE: no one finds it any more, and with the last one its session ends',
        'item references':
          'items of stored responses by their ids, as clients send them that keep the conversation themselves',
        "other people's responses":
          '"foreign response ids, other people\'s responses: OpenAI\'s error shape, 404"',
      }),
      ...rows('openai/input-items', {
        'input items': 'what a response answered: its own input, after all that its conversation had said',
        'input items, page by page':
          'pages: newest first unless it is said otherwise, 20 of them, and on after any item',
      }),
      ...rows('openai/client-tools', {
        tools:
          '"the turn waits with the calls and goes on with their outputs; the session\'s status stays `active`, `pending: "requires_action"`"',
        'tools, after a restart': 'streamed, and after a restart',
      }),
      ...rows('openai/responses', {
        'pictures and files, not stored': 'create: items, with a picture and a file',
      }),
    ],
  },
  {
    client: '`openai` (npm), parameters of both',
    shown: [
      ...rows('openai/responses', {
        'hints, of responses': 'hints that change no answer are accepted, and repeated in it',
        'one call of a tool at a time':
          'one call of a tool at a time, and the description of the format, are passed to the model',
        'conversations, not supported': named('conversation'),
        'stored prompts, not supported': named('prompt'),
        'a limit of tool calls, not supported': named('max_tool_calls'),
        'more in the answer, not supported': named('include[0]'),
        'reasoning, not supported': named('reasoning'),
        'truncation disabled, not supported': named('truncation'),
        'verbosity, not supported': named('text.verbosity'),
        'other service tiers, not supported': named('service_tier'),
        'obfuscation, not supported': named('stream_options.include_obfuscation'),
        'items of reasoning, not supported': named('input[0].type'),
        'annotations, not supported': named('input[0].content[0].annotations'),
        'detail of a picture, not supported': named('input[0].content[0].detail'),
        'pictures in outputs, not supported': named('input[0].output[0].type'),
      }),
      ...rows('openai/chat-completions', {
        'hints, of chat completions':
          'hints that change no answer are accepted; the description of the format, and one call at a time, are passed to the model',
        'seed, not supported': 'seed',
        'prediction, not supported': 'prediction',
        'names of speakers, not supported': 'messages[0].name',
        'other metadata, not supported': 'metadata.ticket',
        'effort, not supported': 'reasoning_effort',
      }),
    ],
  },
  {
    client: '`@openai/agents` (npm), over responses and over chat completions',
    shown: rows('openai/clients/agents-sdk', {
      text: 'run: the answer and what it used',
      stream: 'run, streamed: the answer piece by piece',
      tools: 'tools: the runner runs them, whole',
      'tools, streamed': 'tools: the runner runs them, as a stream',
      'words beside a call': 'an answer that says something and calls a tool goes on as one',
      handoffs: 'handoffs: another agent of the SDK goes on with the conversation',
      'structured output': 'outputType: the answer is of the schema',
      images: 'a picture reaches the model',
      history: 'history: the conversation goes on with what was answered',
      'previous_response_id, tools within':
        'previousResponseId goes on with a response, and tools run within the chain',
      errors: 'errors: a model that is not there, a turn that fails',
      'verbosity, not supported': 'what is not supported is refused by name',
      'conversations, not supported': 'conversations are refused by name',
    }),
  },
  {
    client:
      '`ai` (npm) with `@ai-sdk/openai`, over responses and over chat completions, and with `@ai-sdk/open-responses`',
    shown: rows('openai/clients/ai-sdk', {
      text: 'generateText: the answer and what it used',
      stream: 'streamText: the answer piece by piece, and what it used',
      tools: 'tools: it runs them, generateText',
      'tools, streamed': 'tools: it runs them, streamText',
      'structured output':
        'Output.object: the answer is of the schema, whose name and description the model is told',
      images: 'a picture reaches the model',
      history: 'the conversation goes on with what was answered',
      'previous_response_id, of `@ai-sdk/openai`':
        '@ai-sdk/openai: previousResponseId goes on with a response',
      errors: 'errors: an agent that is not there, a turn that fails',
      'one call of a tool at a time':
        '@ai-sdk/openai: options that are followed: one call of a tool at a time',
      hints: '@ai-sdk/openai: options that are followed: hints',
      'nothing stored': '@ai-sdk/openai: options that are followed: nothing kept',
      'a limit of tool calls, not supported':
        '@ai-sdk/openai: what is not supported is refused by name: max_tool_calls',
      'conversations, not supported':
        '@ai-sdk/openai: what is not supported is refused by name: conversation',
      'truncation disabled, not supported':
        '@ai-sdk/openai: what is not supported is refused by name: truncation',
      'verbosity, not supported': '@ai-sdk/openai: what is not supported is refused by name: text.verbosity',
    }),
  },
  {
    client: '`@langchain/openai` (npm), over chat completions and over responses',
    shown: rows('openai/clients/langchain', {
      text: 'invoke: the answer and what it used',
      stream: 'stream: the answer piece by piece',
      tools:
        'bindTools: its caller runs them, and the answer goes on with their outputs, which name their tool',
      'structured output, by its schema': 'withStructuredOutput by jsonSchema',
      'structured output, by a tool': 'withStructuredOutput by functionCalling',
      'structured output, any JSON': 'withStructuredOutput by jsonMode',
      images: 'a picture reaches the model',
      history: 'the conversation goes on with what was answered',
      'previous_response_id, of responses':
        '@langchain/openai over Responses: previous_response_id goes on with a response',
      errors: 'errors: an agent that is not there, a turn that fails',
      'truncation and logprobs, not supported': 'what is not supported is refused by name',
    }),
  },
  {
    client: '`@a2a-js/sdk` (npm), client over JSON-RPC',
    shown: [
      ...rows('a2a', {
        card: '`/.well-known/agent-card.json` is open, and its skills are the agents that are open to everybody',
        send: 'message/send: a context is a session, a task a turn, and any replica answers',
        stream: 'message/stream shows the task, its answer piece by piece, and how it ended',
        'subscribe and cancel':
          'a task that no one waits for continues, is followed on another replica, and cancelled on a third',
        'list tasks': 'the tasks that its caller may see, the ones that changed last first, page by page',
        files: 'a message with files: their bytes and their names reach the model',
      }),
      ...rows('a2a-push', {
        'push notifications':
          'a message with a push configuration: every state is delivered, in order, the last one with the answer',
        'push configurations':
          'configurations are set, read, listed and deleted at any replica, and their secrets are never shown',
      }),
    ],
  },
  {
    client: '`@modelcontextprotocol/client` (npm)',
    shown: rows('mcp-server', {
      'tools `ask_<agent>`':
        'tools `ask_<agent>` (`message`, `session_id?` → text and structured content with the session), on both replicas',
      progress: 'Progress notifications while the answer is made',
      cancel: 'a call that is cancelled ends its turn, wherever it runs',
      'streams that are cut':
        'a call whose stream is cut goes on at another replica, and asks the model once',
    }),
  },
  {
    client: '`@modelcontextprotocol/inspector-cli` (npm)',
    shown: rows('mcp-inspector', {
      'tools/list': 'tools/list: a tool for each agent, with its schemas',
      'tools/call': 'tools/call: the answer with its session, and the conversation goes on with that',
      'calls that are wrong': 'a call that is wrong is a result that says how',
      'tokens and scopes': 'without a good token it is told 401, and 403 without sessions:write',
      'resources, not supported': 'resources/list is refused by name',
      'prompts, not supported': 'prompts/list is refused by name',
    }),
  },
  {
    client: 'recipes of [clients](clients.md), run as they stand',
    shown: rows('recipes', {
      'all of them': 'every code block of the page is run',
      'OpenAI SDK': "the recipe OpenAI's SDK runs as it stands",
      'Agents SDK': "the recipe OpenAI's Agents SDK runs as it stands",
      'AI SDK': 'the recipe AI SDK runs as it stands',
      LangChain: 'the recipe LangChain runs as it stands',
      'typed client': 'the recipe TypeScript runs as it stands',
      'webhooks with the typed client':
        'the recipe Webhooks runs as it stands: it takes what is signed, and nothing else',
      A2A: 'the recipe Agents that speak A2A runs as it stands',
      curl: 'the recipe curl runs as it stands',
      'configuration of MCP clients': 'the recipe MCP clients, read as they read it, leads to the agents',
    }),
  },
  {
    client:
      'Open WebUI and LibreChat: the applications are not run, their calls are made after their published sources',
    shown: rows('recipes', {
      'Open WebUI': 'the calls of Open WebUI, as its source makes them: models, a streamed answer, a title',
      LibreChat: 'the calls of LibreChat, as its source makes them: models, a streamed answer, a title',
    }),
  },
  {
    client: "the gateway's own, for TypeScript",
    shown: [
      ...rows('client', {
        operations:
          'every operation by its path, in both profiles and for operators; a refusal is an error with its code',
        'idempotency keys and retries':
          'a request whose answer is lost is sent again under its key, and done once',
        streams:
          'resume after cuts, at another replica, with nothing lost, nothing twice and one question to the model',
        pages: 'pages: every session, every message, every item of an operators list',
      }),
      ...rows(
        'client',
        {
          'in a browser':
            'a session, and a stream that goes on after the connection is cut, from a page of an origin that is named',
        },
        'console',
      ),
      ...rows(
        'client',
        {
          'installed from its package':
            'what `npm pack` makes of client/ is installed in an empty folder, compiles with its types, and works',
        },
        'package',
      ),
    ],
  },
];
