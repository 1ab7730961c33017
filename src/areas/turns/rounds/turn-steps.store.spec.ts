import type { Database } from '../../../platform/database/database.js';
import type { TurnAccount } from '../turn-account.js';
import { type TurnStep, TurnStepsStore } from './turn-steps.store.js';

/** @returns which of the files were kept, by the number of steps that the turn had when it was taken up */
async function keptOf(written: number, already: { files: number; bytes: number }, sizes: number[]) {
  const kept: boolean[] = [];
  const query = ({ name }: { name: string }, params: { readonly data?: (Buffer | null)[] }) => {
    if (name === 'turn_steps.kept_files') return Promise.resolve([already]);
    kept.push(...(params.data ?? []).map((data) => data !== null));
    return Promise.resolve([{ number: 1 }]);
  };
  const store = new TurnStepsStore({ query } as unknown as Database, { value: 'r' });
  const lease = { sessionId: 's', turnId: 't', fence: 1 };
  const log = store.open(lease as Parameters<typeof store.open>[0], {} as TurnAccount, written);
  await Promise.all(
    sizes.map((size) => {
      const file = { name: 'f', mimeType: 'a/b', data: Buffer.alloc(size) };
      return log.add({ kind: 'answered', result: {}, files: [file] } as unknown as TurnStep);
    }),
  );
  return kept;
}

const MIB = 1_048_576;
const ELEVEN = Array.from({ length: 11 }, (_, place) => place);

test.each([
  [
    'ten files of a new turn',
    0,
    { files: 9, bytes: 0 },
    ELEVEN.map(() => 1),
    ELEVEN.map((place) => place < 10),
  ],
  ['what is left of ten files', 4, { files: 9, bytes: 9 }, [1, 1], [true, false]],
  ['what is left of 20 MiB', 4, { files: 2, bytes: 15 * MIB }, [6 * MIB, 5 * MIB], [false, true]],
])('an answer has %s, even when its turn is taken up', async (_what, written, already, sizes, kept) => {
  expect(await keptOf(written, already, sizes)).toEqual(kept);
});
