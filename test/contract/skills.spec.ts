import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { moduleText } from '../harness/plugin-modules.js';
import { PluginBench, pluginB } from '../harness/plugins.js';
import { judgeWithReference, SkillBench, skillNames, skillsB } from '../harness/skills.js';
import { expectError } from './support/envelope.js';
import { sortedKeys, type Wire } from './support/faces.js';

const SHIPPED = ['api-troubleshooting', 'decision-record', 'incident-summary'];

let skills: SkillBench;
let plugins: PluginBench;
let gateway: TestGateway;
beforeAll(async () => {
  skills = await SkillBench.make();
  await skills.add(
    'weekly-report',
    'Three lines.',
    'name: weekly-report\ndescription: Writes the report of the week.\nallowed-tools: files__read Bash(git log:*)\n' +
      'metadata:\n  triggers: weekly report, 周报',
  );
  plugins = await PluginBench.make();
  await plugins.addShipped();
  await plugins.add('pinned', moduleText());
  await carry('measures', 'unit-tables');
  await carry('pinned', 'smuggled');
  const pin = createHash('sha256')
    .update(await plugins.read('pinned', 'plugin.toml'))
    .digest('hex');
  const env = { GATEWAY__PLUGINS__INSTALLED__PINNED__PIN: pin, ...skills.env, ...plugins.env };
  gateway = await startTestGateway({ env });
});
afterAll(async () => {
  await gateway.stop();
  await plugins.clear();
  await skills.clear();
});

/** Puts a skill into the folder of a plugin. */
async function carry(plugin: string, name: string): Promise<void> {
  const folder = join(plugins.directory, plugin, 'skills', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: Carried.\n---\nUse it.\n`);
}

test('4.1 | GET | /skills | none | 200; object with skills (array)', async () => {
  const { status, body } = await gateway.a.get<{ skills: Wire[] }>('/skills');
  expect([status, sortedKeys(body)]).toEqual([200, ['skills']]);
  expect(body.skills).toHaveLength(5);
  for (const item of body.skills) expect(sortedKeys(item)).toEqual(['description', 'name', 'tools_required']);
  expect(body.skills).toContainEqual({
    name: 'weekly-report',
    description: 'Writes the report of the week.',
    tools_required: ['files__read', 'Bash(git log:*)'],
  });
});

test('4.2 | GET | /skills | none | 200; object with skills (array)', async () => {
  const { status, body } = await gateway.b.get<{ skills: Wire[] }>('/skills');
  expect([status, sortedKeys(body)]).toEqual([200, ['skills']]);
  for (const item of body.skills)
    expect(sortedKeys(item)).toEqual(['description', 'name', 'source', 'triggers']);
  expect(body.skills).toContainEqual({
    name: 'weekly-report',
    source: 'builtin',
    description: 'Writes the report of the week.',
    triggers: ['weekly report', '周报'],
  });
});

test('2.7 | source (String; a built-in marker or a plugin-origin marker)', async () => {
  expect((await skillsB(gateway)).map(({ name, source }) => [name, source])).toEqual([
    ['weekly-report', 'builtin'],
    ...SHIPPED.map((name) => [name, 'builtin']),
    ['unit-tables', 'plugin:measures'],
  ]);
});

test('a disabled plugin has no skills, and has them again when it is enabled', async () => {
  await gateway.b.post('/plugins/measures/disable');
  expect(await skillNames(gateway)).not.toContain('unit-tables');
  await gateway.a.post('/plugins/measures/enable');
  await eventually(async () => expect(await skillNames(gateway)).toContain('unit-tables'));
});

test('a plugin with a pin is loaded without its skills: the pin does not vouch for them', async () => {
  expect((await pluginB(gateway, 'pinned'))?.status).toBe('loaded');
  expect(await skillNames(gateway)).not.toContain('smuggled');
});

test('shipped skills are valid for the reference library, and have triggers in English and Chinese', async () => {
  for (const { problems } of await judgeWithReference(SHIPPED.map((name) => resolve('skills', name))))
    expect(problems).toEqual([]);
  for (const { name, triggers } of await skillsB(gateway)) {
    if (!SHIPPED.includes(name)) continue;
    expect(triggers.some((trigger) => /^[a-z -]+$/i.test(trigger))).toBe(true);
    expect(triggers.some((trigger) => /\p{Script=Han}/u.test(trigger))).toBe(true);
  }
});

test('skills:read is needed', async () => {
  const reader = gateway.caller('b', await gateway.mint({ scopes: ['skills:read'] }));
  expect((await reader.get('/skills')).status).toBe(200);
  const other = gateway.caller('a', await gateway.mint({ scopes: ['status:read'] }));
  expectError('a', await other.get('/skills'), 403, 'forbidden');
  expectError('b', await gateway.caller('b', undefined).get('/skills'), 401, 'unauthorized');
});

test.each(['a', 'b'] as const)('Profile %s: another method is 405', async (profile) => {
  expectError(profile, await gateway[profile].post('/skills', {}), 405, 'bad_request');
});

test('skills.enabled turns all of them off and on at once; skills.directory can be set in the file only', async () => {
  expect((await gateway.b.patch('/config', { 'skills.enabled': false })).status).toBe(200);
  expect(await skillNames(gateway)).toEqual([]);
  expect((await gateway.a.get<Wire>('/skills')).body).toEqual({ skills: [] });
  // Long enough for a rescan.
  await sleep(600);
  expect((await gateway.b.patch('/config', { 'skills.enabled': true })).status).toBe(200);
  expect(await skillNames(gateway)).toContain('weekly-report');
  expectError('b', await gateway.b.patch('/config', { 'skills.directory': '/etc' }), 403, 'forbidden');
});

test('skills.builtin and skills.plugins leave those out', async () => {
  await gateway.b.patch('/config', { 'skills.builtin': false, 'skills.plugins': false });
  await eventually(async () => expect(await skillNames(gateway)).toEqual(['weekly-report']));
  await gateway.b.patch('/config', { 'skills.builtin': true, 'skills.plugins': true });
  await eventually(async () => expect(await skillNames(gateway)).toHaveLength(5));
});
