import { randomBytes } from 'node:crypto';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { HookStore } from '../areas/hooks/hook.store.js';
import { UserEraser } from '../areas/privacy/user-eraser.js';
import { ToolApprovals } from '../areas/tools/tool-approvals.port.js';
import { AuditAdmin } from '../platform/audit-log/audit-admin.js';
import { Database } from '../platform/database/database.js';
import { silentLogs } from '../platform/logging/logger.js';
import { Redactor } from '../platform/logging/redactor.js';
import { KeyRotation } from '../platform/secrets/key-rotation.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import { readEnvironment } from '../platform/settings/environment.js';
import { settingsSchema } from '../platform/settings/settings.schema.js';
import { type CommandFoundation, CommandLineModule } from './command-line.module.js';

const box = new SecretBox(randomBytes(32));
/** Whatever asks the database while it is made fails: opening the application must read and write nothing. */
const untouched = Object.create(Database.prototype) as Database;

function open(more: Partial<CommandFoundation> = {}) {
  const foundation: CommandFoundation = {
    ...{ environment: readEnvironment({}), database: untouched, logs: silentLogs, redactor: new Redactor() },
    ...{ settings: settingsSchema.parse({}), openBox: () => Promise.resolve(box) },
    ...more,
  };
  return NestFactory.createApplicationContext(CommandLineModule.of(foundation), {
    logger: false,
    abortOnError: false,
  });
}

test('nothing in it starts by itself', async () => {
  const app = await open({ box });
  const made = [...app.get(ModulesContainer).values()].flatMap(({ providers }) => [...providers.values()]);
  const ours = made
    .filter(({ instance }) => instance instanceof Object)
    .map(({ instance }) => instance as object);
  expect(ours.length).toBeGreaterThan(20);
  const starting = ours.filter((one) => 'onModuleInit' in one || 'onApplicationBootstrap' in one);
  expect(starting.map((one) => one.constructor.name)).toEqual([]);
  await app.close();
});

test('services that seal and open exist only with the box', async () => {
  const [without, withBox] = [await open(), await open({ box })];
  for (const one of [UserEraser, AuditAdmin, ToolApprovals]) expect(without.get(one)).toBeInstanceOf(one);
  for (const one of [HookStore, KeyRotation, SecretBox]) {
    expect(() => without.get<unknown>(one)).toThrow();
    expect(withBox.get(one)).toBeInstanceOf(one);
  }
  await Promise.all([without.close(), withBox.close()]);
});
