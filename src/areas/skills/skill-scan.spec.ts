import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingsSchema } from '../../platform/settings/settings.schema.js';
import { rootsOf } from './skill-roots.js';
import { NO_SKILLS, type SkillScan, scanSkills } from './skill-scan.js';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agw-scan-')));
});
afterEach(() => rm(folder, { recursive: true }));

async function add(path: string, name: string, description = path): Promise<void> {
  await mkdir(join(folder, path), { recursive: true });
  await writeFile(
    join(folder, path, 'SKILL.md'),
    `---\nname: ${name}\ndescription: ${description}\n---\nB\n`,
  );
}

function scan(skills: object = {}, before: SkillScan = NO_SKILLS, plugins: object = {}): Promise<SkillScan> {
  const directory = join(folder, 'own');
  const settings = settingsSchema.parse({ skills: { directory, builtin: false, ...skills }, plugins });
  const loaded = ['zeta', 'alpha'].map((name) => ({ name, folder: join(folder, 'plugins', name) }));
  return scanSkills(rootsOf(settings, loaded), settings.skills, before);
}

const shown = ({ skills }: SkillScan) => skills.map(({ name, source }) => `${source} ${name}`);

describe('the skills that are found', () => {
  it('are your own first, then the shipped ones, then those of plugins by name; the first one of a name wins', async () => {
    await add('own/notes', 'notes');
    await add('own/incident-summary', 'incident-summary', 'Ours.');
    await add('plugins/alpha/skills/notes', 'notes');
    await add('plugins/alpha/skills/shared', 'shared');
    await add('plugins/zeta/skills/shared', 'shared');
    await add('plugins/zeta/skills/decision-record', 'decision-record');

    const found = await scan({ builtin: true });

    expect(shown(found)).toEqual([
      'builtin incident-summary',
      'builtin notes',
      'builtin api-troubleshooting',
      'builtin decision-record',
      'plugin:alpha shared',
    ]);
    expect(found.skills[0]?.description).toBe('Ours.');
    expect([...found.notes]).toEqual([
      ['builtin/incident-summary', 'the skill incident-summary already exists: workspace/incident-summary'],
      ['plugin:alpha/notes', 'the skill notes already exists: workspace/notes'],
      ['plugin:zeta/decision-record', 'the skill decision-record already exists: builtin/decision-record'],
      ['plugin:zeta/shared', 'the skill shared already exists: plugin:alpha/shared'],
    ]);
  });

  it('are the same objects until their bytes change', async () => {
    await add('own/notes', 'notes');
    const first = await scan();
    const second = await scan({}, first);
    expect(second.skills[0]).toBe(first.skills[0]);
    await add('own/notes', 'notes', 'Other.');
    const third = await scan({}, second);
    expect(third.skills[0]).not.toBe(first.skills[0]);
    expect(third.skills[0]?.description).toBe('Other.');
  });

  it('leave out hidden folders, files, folders without a SKILL.md, and skills past the limit', async () => {
    await add('own/.git', 'hidden');
    await mkdir(join(folder, 'own/assets'));
    await writeFile(join(folder, 'own/README.md'), '');
    for (const name of ['a', 'b', 'c']) await add(`own/${name}`, name);
    const found = await scan({ max_skills: 2 });
    expect(shown(found)).toEqual(['builtin a', 'builtin b']);
    expect([...found.notes]).toEqual([['workspace/c', 'there are already 2 skills (skills.max_skills)']]);
  });
});

test('every folder is watched, even one of a missing or faulty skill, but none outside that a link leads to', async () => {
  await add('own/sound', 'sound');
  await add('own/wrong', 'not its name!');
  await mkdir(join(folder, 'own/empty'));
  await mkdir(join(folder, 'elsewhere'));
  await symlink(join(folder, 'elsewhere'), join(folder, 'own/away'));
  const found = await scan();
  expect(found.failures.size).toBe(1);
  const inside = ['own', 'own/empty', 'own/sound', 'own/wrong'];
  expect([...found.folders].sort()).toEqual(inside.map((path) => join(folder, path)));
});

describe('skills that cannot be read', () => {
  it('are noted, and the other skills are served', async () => {
    await add('outside/skills/stray', 'stray');
    await add('plugins/zeta/skills/good', 'good');
    await mkdir(join(folder, 'plugins/alpha'), { recursive: true });
    await symlink(join(folder, 'outside/skills'), join(folder, 'plugins/alpha/skills'));
    const found = await scan();
    expect(shown(found)).toEqual(['plugin:zeta good']);
    expect([...found.notes]).toEqual([
      ['workspace', 'the folder cannot be read'],
      ['plugin:alpha', 'skills leads out of the folder of the plugin'],
    ]);
  });

  it('never name a local path', async () => {
    await add('own/gone', 'gone');
    await symlink(join(folder, 'nowhere'), join(folder, 'own/dangling'));
    await mkdir(join(folder, 'own/strange/SKILL.md'), { recursive: true });
    const notes = JSON.stringify([...(await scan({ max_skill_bytes: 8 })).notes]);
    expect(notes).toContain('is not a file');
    expect(notes).not.toContain(folder);
  });
});

it('pins, of one plugin or of all, leave out the skills of plugins', async () => {
  await add('plugins/alpha/skills/a', 'a');
  await add('plugins/zeta/skills/z', 'z');
  const pin = '0'.repeat(64);
  expect(shown(await scan())).toEqual(['plugin:alpha a', 'plugin:zeta z']);
  expect(shown(await scan({}, NO_SKILLS, { installed: { alpha: { pin } } }))).toEqual(['plugin:zeta z']);
  expect(shown(await scan({}, NO_SKILLS, { integrity: 'pin' }))).toEqual([]);
  expect(shown(await scan({ plugins: false }))).toEqual([]);
});
