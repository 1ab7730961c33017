import { NestFactory } from '@nestjs/core';
import { promptly } from '../../../test/harness/promptly.js';
import { silentLogs } from '../logging/logger.js';
import { FixedSettings } from '../settings/settings.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { type Drained, DrainService } from './drain.service.js';
import { EndingParts } from './ending-parts.js';
import { Readiness } from './readiness.js';

interface Scene {
  readonly graceMs?: number;
  readonly timeoutMs?: number;
  /** How many turns run, look after look; the last look stays. */
  readonly turns?: number[];
  readonly cutOff?: string[];
  readonly closeApp?: () => Promise<void>;
  readonly ending?: EndingParts;
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
    ending: scene.ending ?? new EndingParts(),
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
  'end turns',
  'close areas',
];

test('a stop takes its steps in order, once', async () => {
  const { service, told, readiness } = stopping({});
  await Promise.all([service.stop(), service.stop()]);
  expect([told, readiness.isDraining]).toEqual([ORDER, true]);
});

test('a message that waited behind a turn is waited for too', async () => {
  const { service, told } = stopping({ turns: [1, 1, 0] });
  await service.stop();
  expect(told.filter((what) => what === 'answered')).toHaveLength(3);
});

test('turns that do not end in time are ended, and requests that are cut off are logged once', async () => {
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
  await promptly(leastMs + 400, async () => {
    const since = performance.now();
    const stopped = service.stop(options);
    if (options.withGrace) setTimeout(() => service.hurry(), 230);
    await stopped;
    expect(performance.now() - since).toBeGreaterThanOrEqual(leastMs);
  });
});

test('during a grace, answers close their connections until just before the port closes', async () => {
  const { service, told } = stopping({ graceMs: 10 });
  await service.stop();
  expect(told.slice(0, 4)).toEqual([
    'end connections',
    'keep connections',
    'stop accepting',
    'end connections',
  ]);
});

test('an area that fails to end is reported', async () => {
  const { service } = stopping({ closeApp: () => Promise.reject(new Error('an area is stuck')) });
  await expect(service.stop()).rejects.toThrow('an area is stuck');
});

class Quick {
  onModuleDestroy(): void {}
}
class Slow {
  onModuleDestroy = () => new Promise<void>((resolve) => setTimeout(resolve, 2000));
}
class Areas {
  readonly name = 'areas';
}
class Stuck {
  beforeApplicationShutdown = () => new Promise<void>(() => undefined);
}

test('areas that do not end in time are named, and slow ones before them too', async () => {
  const providers = [Quick, Slow, Stuck].map((Part) => ({ provide: Part, useValue: new Part() }));
  const app = await NestFactory.createApplicationContext({ module: Areas, providers }, { logger: false });
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { service, told } = stopping({
    ending: EndingParts.of(app),
    closeApp: () => {
      told.push('areas');
      return app.close();
    },
  });
  const stopped = service.stop().catch(String);
  while (!told.includes('areas')) await new Promise((resolve) => setImmediate(resolve));
  await jest.advanceTimersByTimeAsync(20_000);
  jest.useRealTimers();
  expect(await stopped).toBe(
    'Error: Not every part of the gateway has ended within 15 s. Still ending: Stuck (13.0 s); ended slowly: Slow (2.0 s).',
  );
});
