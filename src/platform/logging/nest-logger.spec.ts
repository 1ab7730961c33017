import { JsonLogs } from './json-logs.js';
import { NestLogger } from './nest-logger.js';
import { Redactor } from './redactor.js';

let lines: Record<string, unknown>[];
let logger: NestLogger;
beforeEach(() => {
  lines = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  logger = new NestLogger(new JsonLogs({ level: 'trace', redactor: new Redactor(), write }));
});

test("Nest's own messages are logged at debug, with the part of Nest that wrote them", () => {
  logger.log('Mapped {/health, GET} route', 'RouterExplorer');
  logger.debug('resolved', 'Injector');
  logger.verbose('looked up', 'Injector');
  logger.warn('deprecated', 'NestApplication');
  expect(lines.map(({ level, module, message }) => [level, module, message].join(' '))).toEqual([
    'debug nest::RouterExplorer Mapped {/health, GET} route',
    'debug nest::Injector resolved',
    'trace nest::Injector looked up',
    'warn nest::NestApplication deprecated',
  ]);
});

test('an error of Nest has its stack, when Nest passes one before the context', () => {
  logger.error('no provider', 'Error: no provider\n    at Injector', 'ExceptionHandler');
  logger.error('no provider', 'ExceptionHandler');
  logger.error(new Error('no provider'), undefined, 'ExceptionHandler');
  const own = { level: 'error', module: 'nest::ExceptionHandler' };
  expect(lines).toEqual([
    expect.objectContaining({
      ...own,
      message: 'no provider',
      stack: expect.stringContaining('at Injector') as string,
    }),
    expect.not.objectContaining({ stack: expect.anything() as unknown }),
    expect.objectContaining({ ...own, message: 'Error: no provider' }),
  ]);
});

test('a message without a context belongs to nest', () => {
  logger.warn('something');
  logger.error('something worse');
  expect(lines.map(({ module, message }) => [module, message])).toEqual([
    ['nest', 'something'],
    ['nest', 'something worse'],
  ]);
});
