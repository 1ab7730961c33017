import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../platform/database/database.js';
import { DatabaseAway } from '../../platform/database/database-failure.js';
import { VerdictWatch } from './verdict-watch.js';

type Answer = (ids: readonly string[]) => { id: string; verdict: string | null }[];
const terms = (limitMs = 60_000) => ({ signal: new AbortController().signal, limitMs });

function watch(answer: Answer) {
  const asked: (readonly string[])[] = [];
  const query = (_statement: unknown, { ids }: { ids: readonly string[] }) => {
    asked.push(ids);
    return Promise.resolve().then(() => answer(ids));
  };
  return { asked, watch: new VerdictWatch({ query } as unknown as Database) };
}
const waiting: Answer = (ids) => ids.map((id) => ({ id, verdict: null }));

test.concurrent('many waiting calls are looked up in one statement, and none is sent when nothing waits', async () => {
  const said = new Map<string, string>();
  const { asked, watch: verdicts } = watch((ids) => ids.map((id) => ({ id, verdict: said.get(id) ?? null })));
  const ids = Array.from({ length: 50 }, (_, n) => `appr_${n}`);
  const all = Promise.all(ids.map((id) => verdicts.wait(id, terms())));
  await sleep(250);
  for (const id of ids) said.set(id, 'allowed');
  expect(new Set(await all)).toEqual(new Set(['allowed']));
  expect(asked.every((some) => some.length === 50)).toBe(true);
  const count = asked.length;
  expect(count).toBeLessThan(6);
  await sleep(250);
  expect(asked).toHaveLength(count);
});

test.concurrent('a decision through this process is known without a look-up; a call that no longer exists has expired', async () => {
  const { asked, watch: verdicts } = watch(() => []);
  const first = verdicts.wait('one', terms());
  verdicts.decided('one', 'denied');
  expect([await first, asked]).toEqual(['denied', []]);
  expect(await verdicts.wait('gone', terms())).toBe('timeout');
});

test.concurrent('a turn that is aborted leaves the others waiting', async () => {
  const { watch: verdicts } = watch(waiting);
  const abort = new AbortController();
  const aborted = verdicts.wait('one', { ...terms(), signal: abort.signal });
  const other = verdicts.wait('one', terms());
  abort.abort(new Error('cancelled'));
  await expect(aborted).rejects.toThrow('cancelled');
  await expect(verdicts.wait('one', { ...terms(), signal: abort.signal })).rejects.toThrow('cancelled');
  verdicts.decided('one', 'allowed');
  expect(await other).toBe('allowed');
});

test.concurrent('a database that is away ends the wait only after its limit; any other failure ends it at once', async () => {
  let failure: Error | undefined = new DatabaseAway('gone');
  const { watch: verdicts } = watch((ids) => {
    if (failure !== undefined) throw failure;
    return ids.map((id) => ({ id, verdict: 'allowed' }));
  });
  const short = verdicts.wait('short', terms(400));
  const long = verdicts.wait('long', terms());
  await expect(short).rejects.toThrow(DatabaseAway);
  failure = undefined;
  expect(await long).toBe('allowed');
  failure = new Error('a mistake in the statement');
  await expect(verdicts.wait('next', terms())).rejects.toThrow('a mistake');
});
