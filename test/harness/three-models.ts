import { anthropicWire, openAiWire } from './provider-wires.js';
import { beginStream, type Script, type ScriptedProvider } from './scripted-provider.js';

/** One scripted provider, reached over each wire, by the agents `chat`, `responses` and `messages`. */
export function threeModelsEnv({ url }: Pick<ScriptedProvider, 'url'>): Record<string, string> {
  const provider = (name: string, kind: string, suffix: string, wire?: string): Record<string, string> => ({
    [`GATEWAY__PROVIDERS__${name}__KIND`]: kind,
    [`GATEWAY__PROVIDERS__${name}__API_KEY`]: 'key-of-a-scripted-provider',
    [`GATEWAY__PROVIDERS__${name}__BASE_URL`]: `${url}${suffix}`,
    ...(wire === undefined ? {} : { [`GATEWAY__PROVIDERS__${name}__WIRE`]: wire }),
    [`GATEWAY__AGENTS__${name}__MODELS`]: `${name.toLowerCase()}/m`,
  });
  return {
    ...provider('CHAT', 'openai', '/v1', 'chat'),
    ...provider('RESPONSES', 'openai', '/v1', 'responses'),
    ...provider('MESSAGES', 'anthropic', ''),
  };
}

/** Gives this answer on whichever wire it is asked. */
export function saysOnEveryWire(text: string): Script {
  return (response, { path }) => {
    if (path.endsWith('/responses')) {
      const delta = { type: 'response.output_text.delta', output_index: 0, delta: text };
      const done = { type: 'response.completed', response: { model: 'm', status: 'completed' } };
      beginStream(response, { type: 'response.created' }, delta, done);
    } else {
      const wire = path.endsWith('/messages') ? anthropicWire : openAiWire;
      beginStream(response, ...wire.opening, wire.text(text), ...wire.closing);
    }
    response.end();
  };
}
