import { RemoteFailure } from './gateway-client.js';
import { type LogEntry, pollLogs } from './poll-logs.js';

type Answer = readonly LogEntry[] | Error;

const START = Date.parse('2026-01-31T12:00:00.000Z');
const line = (seconds: number, message = `at ${seconds}`): LogEntry => ({
  ...{ timestamp: new Date(START + seconds * 1000).toISOString(), level: 'info', message },
});

/** A gateway that gives these answers, one for each time it is asked. */
async function polled(...answers: readonly Answer[]) {
  const stop = new AbortController();
  const shown: string[] = [];
  const said: string[] = [];
  const asked: Record<string, string>[] = [];
  const get = (_path: string, query: Record<string, string>) => {
    const answer = answers[asked.length] ?? [];
    asked.push(query);
    if (asked.length === answers.length) stop.abort();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ entries: answer });
  };
  const failure = await pollLogs({
    client: { get } as never,
    query: { level: 'info', since: '1h', limit: '100' },
    show: ({ message }) => void shown.push(message),
    terminal: { err: (text) => void said.push(text) },
    ...{ signal: stop.signal, pauseMs: 1 },
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { shown, said, asked, failure };
}

test('a line that is stored later than a newer one is still shown, and each line once', async () => {
  const { shown, asked } = await polled(
    [line(0), line(30)],
    [line(30), line(31)],
    [line(25), line(30), line(31)],
    [line(25), line(30), line(31), line(31, 'another')],
  );
  expect(shown).toEqual(['at 0', 'at 30', 'at 31', 'at 25', 'another']);
  expect(asked.map(({ since }) => since)).toEqual([
    '1h',
    '2026-01-31T12:00:20.000Z',
    '2026-01-31T12:00:21.000Z',
    '2026-01-31T12:00:21.000Z',
  ]);
});

test('it asks for nothing older than the first line', async () => {
  const { asked } = await polled([line(0), line(1)], []);
  expect(asked[1]).toMatchObject({ since: line(0).timestamp, limit: '1000' });
});

test.each([
  ['nobody answers', new RemoteFailure('away')],
  ['it fails', new RemoteFailure('failed', 503)],
  ['it asks to wait', new RemoteFailure('busy', 429)],
])('goes on when %s, but not at first', async (_what, failure) => {
  expect((await polled([line(0)], failure, failure, [line(0), line(1)])).shown).toEqual(['at 0', 'at 1']);
  expect((await polled([], failure, [line(1)])).shown).toEqual(['at 1']);
  expect((await polled(failure, [line(0)])).failure).toBe(failure);
});

test('ends when it is refused, and on an error of its own', async () => {
  for (const failure of [new RemoteFailure('no', 403), new TypeError('ours')])
    expect((await polled([line(0)], failure, [])).failure).toBe(failure);
});

test('says that lines are missing when more came than one answer holds', async () => {
  const many = Array.from({ length: 1000 }, (_, at) => line(20 + at / 1000));
  expect((await polled([line(0)], many)).said).toEqual([
    '[lines are missing here: there were more than 1000]\n',
  ]);
  expect((await polled([line(0)], [line(0), ...many.slice(1)])).said).toEqual([]);
  expect((await polled(many, many)).said).toEqual([]);
});
