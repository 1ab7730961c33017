import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import { TeamsToken } from './teams-client.js';

const ACCESS = {
  ...{ appId: 'app', secret: 's', assertionFile: '', tenantId: '' },
  ...{ loginUrl: 'https://login.example', timeoutMs: 1000 },
};

function fetched() {
  const asked: ((token: string | Error) => void)[] = [];
  const read = ({ signal }: { signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      asked.push((token) => {
        if (token instanceof Error) reject(token);
        else
          resolve({
            status: 200,
            headers: {},
            body: Buffer.from(JSON.stringify({ access_token: token, expires_in: 3600 })),
          });
      });
    });
  return { asked, token: new TeamsToken({ read } as unknown as OutboundClient, ACCESS) };
}
const signal = () => new AbortController().signal;
const moment = () => new Promise((resolve) => setTimeout(resolve, 5));

test('two that need a token at the same time share one request', async () => {
  const { asked, token } = fetched();
  const both = [token.get(signal()), token.get(signal())];
  await moment();
  expect(asked).toHaveLength(1);
  asked[0]?.('one');
  expect(await Promise.all(both)).toEqual(['one', 'one']);
});

test('one that is stopped while it fetches a token stops no one else', async () => {
  const { asked, token } = fetched();
  const stopped = new AbortController();
  const first = token.get(stopped.signal);
  const second = token.get(signal());
  await moment();
  stopped.abort(new Error('stopped'));
  await expect(first).rejects.toThrow('stopped');
  asked[0]?.('one');
  expect([await second, asked.length]).toEqual(['one', 1]);
});
