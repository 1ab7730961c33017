import { silentLogs } from '../logging/logger.js';
import { FixedSettings } from '../settings/settings.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { type Drained, DrainService } from './drain.service.js';
import { Readiness } from './readiness.js';

interface Scene {
  readonly graceMs?: number;
  readonly timeoutMs?: number;
  /** How many turns run, look after look; the last look stays. */
  readonly turns?: number[];
  readonly cutOff?: string[];
  readonly closeApp?: () => Promise<void>;
  /** Turns go on until they are aborted. */
  readonly endless?: boolean;
}

/** What a stop does, in its order. */
function stopping({ graceMs = 0, timeoutMs = 1000, turns = [0], ...scene }: Scene) {
  const told: string[] = [];
  const tell = (what: string): Promise<void> => Promise.resolve(void told.push(what));
  let endTurns: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    endTurns = resolve;
    if (scene.endless !== true) resolve();
  });
  const parts = {
    readiness: new Readiness(),
    listeners: {
      set endsConnections(ends: boolean) {
        told.push(ends ? 'end connections' : 'keep connections');
      },
      stopAccepting: () => tell('stop accepting'),
      closeIdle: () => undefined,
      answered: () => tell('answered'),
      close: () => tell('close'),
      unansweredRoutes: scene.cutOff ?? [],
    },
    streams: [{ endAll: () => void told.push('end streams') }],
    settings: new FixedSettings(
      settingsSchema.parse({ gateway: { drain_grace_ms: graceMs, drain_timeout_ms: timeoutMs } }),
    ),
    turns: {
      get count() {
        return (turns.length > 1 ? turns.shift() : turns[0]) ?? 0;
      },
      allEnded: () => ended,
      handOverAtStep: () => undefined,
      endAll: () => {
        told.push('end turns');
        endTurns();
      },
    },
    logger: {
      ...silentLogs.for('test'),
      warn: (sentence: string, fields: unknown) => told.push(`${sentence} ${JSON.stringify(fields)}`),
    },
    closeApp: scene.closeApp ?? (() => tell('close areas')),
  } as unknown as Drained;
  return { service: new DrainService(parts), told, readiness: parts.readiness };
}

const ORDER = [
  'end connections',
  'stop accepting',
  'end connections',
  'end streams',
  'answered',
  'answered',
  'close',
  'close areas',
];

test('a stop goes in its order, once', async () => {
  const { service, told, readiness } = stopping({});
  await Promise.all([service.stop(), service.stop()]);
  expect([told, readiness.isDraining]).toEqual([ORDER, true]);
});

test('a message that waited behind a turn is waited for too', async () => {
  const { service, told } = stopping({ turns: [1, 1, 0] });
  await service.stop();
  expect(told.filter((what) => what === 'answered')).toHaveLength(3);
});

test('turns that do not end in time are ended, and what is cut off is named once', async () => {
  const route = 'POST /api/v1/sessions/:id/messages';
  const { service, told } = stopping({ turns: [2], endless: true, timeoutMs: 20, cutOff: [route, route] });
  await service.stop();
  expect(told.slice(4, 6)).toEqual([
    'turns are handed over or interrupted: the gateway stops {"running_turns":2}',
    'end turns',
  ]);
  const cutOff = JSON.stringify({ requests: 2, routes: [route] });
  expect(told).toContain(`requests are cut off: the gateway stops ${cutOff}`);
});

test.each([
  ['kept', { withGrace: true }, 200],
  ['left out when nobody is to be told', { withGrace: false }, 0],
])('the grace is %s', async (_what, options, leastMs) => {
  const { service } = stopping({ graceMs: 200 });
  const since = performance.now();
  const stopped = service.stop(options);
  if (options.withGrace) setTimeout(() => service.hurry(), 230);
  await stopped;
  expect(performance.now() - since).toBeGreaterThanOrEqual(leastMs);
  expect(performance.now() - since).toBeLessThan(leastMs + 400);
});

test('in a grace connections are ended, and kept again just before the port closes', async () => {
  const { service, told } = stopping({ graceMs: 10 });
  await service.stop();
  expect(told.slice(0, 4)).toEqual([
    'end connections',
    'keep connections',
    'stop accepting',
    'end connections',
  ]);
});

test('an area that fails to end is heard of', async () => {
  const { service } = stopping({ closeApp: () => Promise.reject(new Error('an area is stuck')) });
  await expect(service.stop()).rejects.toThrow('an area is stuck');
});
