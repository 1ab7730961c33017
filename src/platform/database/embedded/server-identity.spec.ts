import fs from 'node:fs/promises';
import os from 'node:os';
import { identitiesForNewCluster, identityForCluster } from './server-identity.js';

const namespace = expect.objectContaining({ name: 'a user namespace', owner: 0, credentials: {} }) as unknown;

/** As if this process belonged to somebody else. */
function runAs(uid: number): void {
  jest.spyOn(process, 'geteuid').mockReturnValue(uid);
}
afterEach(() => jest.restoreAllMocks());

describe('a new cluster', () => {
  test('is made by whoever runs the gateway, unless that is root', async () => {
    runAs(1000);
    await expect(identitiesForNewCluster()).resolves.toEqual([
      { name: 'this user', owner: 1000, credentials: {}, prefix: [] },
    ]);
  });

  test('is made within a namespace by a user that the system has no name for', async () => {
    runAs(1000_650_000);
    jest.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('ENOENT: no such user');
    });
    const [only, ...others] = await identitiesForNewCluster();
    expect([only?.name, only?.owner, others]).toEqual(['a user namespace', 1000_650_000, []]);
    expect(only?.prefix[0]).toBe('unshare');
  });

  test('is made for root by a user without rights, and at last within a namespace', async () => {
    runAs(0);
    const all = await identitiesForNewCluster();
    expect(all.at(-1)).toEqual(namespace);
    expect(all.slice(0, -1).map(({ name }) => name)).toContain('nobody');
    for (const { credentials } of all.slice(0, -1)) expect(credentials.uid).toBeGreaterThan(0);
  });
});

describe('a cluster that is there', () => {
  test('is run as whoever has its files', async () => {
    runAs(1000);
    await expect(identityForCluster('/data', 1000, 100)).resolves.toMatchObject({ name: 'this user' });
    runAs(0);
    await expect(identityForCluster('/data', 26, 27)).resolves.toEqual({
      ...{ name: 'user 26', owner: 26, credentials: { uid: 26, gid: 27 }, prefix: [] },
    });
    await expect(identityForCluster('/data', 0, 0)).resolves.toEqual(namespace);
  });

  test("is not run when it is another user's", async () => {
    runAs(1000);
    await expect(identityForCluster('/data', 26, 27)).rejects.toThrow(
      '/data belongs to user 26, this process runs as user 1000; run as that user',
    );
  });
});

test('on a system whose users cannot be read, nobody is nobody', async () => {
  runAs(0);
  jest.spyOn(fs, 'readFile').mockRejectedValue(new Error('EACCES'));
  const [only, ...others] = await identitiesForNewCluster();
  expect(only?.prefix).toContain('--map-user=65534');
  expect(others).toEqual([]);
});
