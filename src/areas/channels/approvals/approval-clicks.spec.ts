import { silentLogs } from '../../../platform/logging/logger.js';
import { ApprovalClicks } from './approval-clicks.service.js';

const CODE = 'a'.repeat(22);

/** What the decision gets to know about the person who clicked. */
async function decidedBy(sender: { id: string; writesAs?: string }): Promise<unknown[]> {
  const told: unknown[] = [];
  const card = { approvalId: 'apr_1', channel: 'slack', asker: 'slack:U7', title: 'x', details: '{}' };
  const parts = [
    { find: () => Promise.resolve(card), decidedBy: () => Promise.resolve() },
    { wake: () => undefined },
    { decideFrom: (approver: unknown) => Promise.resolve(void told.push(approver)) },
    { settingsOf: () => ({ approvers: [sender.id] }) },
    silentLogs,
  ] as unknown as ConstructorParameters<typeof ApprovalClicks>;
  const click = { sender: { ...sender, displayName: 'Ada' }, data: `allow:${CODE}` };
  expect(await new ApprovalClicks(...parts).receive('slack', click)).toMatchObject({ isAccepted: true });
  return told;
}

test.each([
  ['who wrote the message', { id: 'U7' }, true],
  ['who wrote it from another workspace', { id: 'T2/U7', writesAs: 'U7' }, true],
  ['somebody else', { id: 'U8' }, false],
  ['somebody else of another workspace', { id: 'T2/U8', writesAs: 'U8' }, false],
])('a click of %s is recognised as theirs', async (_who, sender, isAsker) => {
  expect(await decidedBy(sender)).toEqual([{ channel: 'slack', userId: `slack:${sender.id}`, isAsker }]);
});
