import { BadRequest, ProviderFailed } from '../../../common/errors/gateway-error.js';
import type { ModelMessage } from '../../models/models.api.js';
import { RefusedMedia } from './refused-media.js';

const PICTURE = { type: 'image' as const, mimeType: 'image/png', data: 'AAAA' };
const request = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }, PICTURE] }] as readonly ModelMessage[],
};
const rejected = () => new ProviderFailed('No.', { details: { reason: 'provider_rejected_request' } });
const shows = ({ messages }: typeof request) => JSON.stringify(messages).includes('AAAA');

/** Calls of a model that rejects what `refuses` says. */
function model(refuses: (one: typeof request) => Error | undefined) {
  const calls: boolean[] = [];
  const media = new RefusedMedia();
  const ask = (turn: object, name = 'm', mayGoWithout = () => true) =>
    media.ask(request, {
      ...{ turn, model: name, mayGoWithout },
      ask: (one) => {
        calls.push(shows(one));
        const error = refuses(one);
        return error === undefined ? Promise.resolve('fine') : Promise.reject(error);
      },
    });
  return { calls, ask };
}
const blind = () => model((one) => (shows(one) ? rejected() : undefined));

test('a rejected request is repeated once without its media, and so are later ones of the turn', async () => {
  const { calls, ask } = blind();
  const turn = {};
  expect([await ask(turn), await ask(turn), await ask(turn)]).toEqual(['fine', 'fine', 'fine']);
  expect(calls).toEqual([true, false, false, false]);
});

test('another turn and another model are shown everything', async () => {
  const { calls, ask } = blind();
  const turn = {};
  await ask(turn);
  await ask(turn, 'other');
  await ask({});
  expect(calls).toEqual([true, false, true, false, true, false]);
});

test('when it is rejected without them too, the media were not the reason', async () => {
  const { calls, ask } = model(rejected);
  const turn = {};
  await expect(ask(turn)).rejects.toThrow('No.');
  await expect(ask(turn)).rejects.toThrow('No.');
  expect(calls).toEqual([true, false, true, false]);
});

test('other failures, and requests that must not be repeated, are left as they are', async () => {
  const other = model(() => new BadRequest('Else.'));
  await expect(other.ask({})).rejects.toThrow('Else.');
  const late = blind();
  await expect(late.ask({}, 'm', () => false)).rejects.toThrow('No.');
  expect([other.calls, late.calls]).toEqual([[true], [true]]);
});
