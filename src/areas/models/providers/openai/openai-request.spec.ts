import { modelRequest, userMessage } from '../../../../../test/harness/model-call.js';
import { openAiRequest } from './openai-request.js';

describe('the bound of an answer', () => {
  it.each([
    ['https://api.openai.com/v1', 'max_completion_tokens'],
    ['https://mine.openai.azure.com/openai/v1', 'max_completion_tokens'],
    ['http://127.0.0.1:11434/v1', 'max_tokens'],
    ['https://api.openai.com.example.org/v1', 'max_tokens'],
  ])('is told to %s as %s', (baseUrl, name) => {
    const params = openAiRequest(modelRequest([userMessage('x')]), 'm', baseUrl);
    const names = Object.keys(params).filter((key) => key.startsWith('max_'));
    expect(names).toEqual([name]);
  });
});
