import { JsonLogs } from './json-logs.js';
import { logConsole } from './library-console.js';
import { Redactor } from './redactor.js';

test('what a library writes is one line each, at its level and without secrets, and nothing reaches the console', () => {
  const lines: Record<string, unknown>[] = [];
  const redactor = new Redactor();
  redactor.add('a-secret-of-nobody');
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  const written: unknown[] = [];
  const own = (...said: unknown[]) => written.push(said);
  const console = { debug: own, log: own, info: own, warn: own, error: own };
  logConsole(new JsonLogs({ level: 'debug', redactor, write }), console);
  console.warn('[sdk] %s: %j', 'refused', { cause: 'a-secret-of-nobody' });
  console.error(new Error('no\nway'));
  console.info('hello');
  console.log({ a: 1 });
  expect(lines.map(({ level, module, message }) => [level, module, message])).toEqual([
    ['warn', 'library', '[sdk] refused: {"cause":"***REDACTED***"}'],
    ['error', 'library', expect.stringMatching(/^Error: no\\nway\\n/)],
    ['debug', 'library', 'hello'],
    ['debug', 'library', '{ a: 1 }'],
  ]);
  expect(written).toEqual([]);
});
