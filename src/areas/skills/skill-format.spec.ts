import { parseSkill } from './skill-format.js';

const file = (header: string, body = 'Do it.') => Buffer.from(`---\n${header}\n---\n${body}\n`);
const minimal = 'name: tidy-up\ndescription: Tidies up.';

describe('a SKILL.md', () => {
  it('is read as the format defines; unknown keys are ignored', () => {
    const header = `name: pdf-forms
description: >-
  Fills forms
  in PDF files.
license: MIT
compatibility: needs python
allowed-tools: Read Bash(git add:*) Bash(jq:*)
metadata:
  author: somebody
  version: "1.0"
  triggers: fill a form, 填表；表单
model: some-model
hooks: { before: [] }`;
    expect(parseSkill(file(header, '# Forms\n\n---\n\nUse it.'), 'pdf-forms')).toEqual({
      name: 'pdf-forms',
      description: 'Fills forms in PDF files.',
      triggers: ['fill a form', '填表', '表单'],
      toolsRequired: ['Read', 'Bash(git add:*)', 'Bash(jq:*)'],
      body: '# Forms\n\n---\n\nUse it.',
      warnings: [],
    });
  });

  it.each([
    ['Read, Grep, Bash(git:*)', ['Read', 'Grep', 'Bash(git:*)']],
    ['[Read, "Bash(npm run test:*)"]', ['Read', 'Bash(npm run test:*)']],
    ['\n  - Read\n  - Write\n  - Read', ['Read', 'Write']],
    ['{ Read: true }', []],
    ['42', ['42']],
  ])('names its tools as %s', (written, tools) => {
    expect(parseSkill(file(`${minimal}\nallowed-tools: ${written}`), 'tidy-up').toolsRequired).toEqual(tools);
  });

  it.each([
    ['metadata:\n  triggers:\n    - tidy\n    - 整理', ['tidy', '整理']],
    ['triggers: [tidy, Tidy, " tidy ", 2026]', ['tidy', '2026']],
    ['metadata: { triggers: inner }\ntriggers: outer', ['inner']],
    ['metadata: nothing', []],
    ['metadata:\n  triggers: { a: 1 }', []],
    ['triggers: "a,,、,b"', ['a', 'b']],
  ])('has its triggers in %j', (written, triggers) => {
    expect(parseSkill(file(`${minimal}\n${written}`), 'tidy-up').triggers).toEqual(triggers);
  });

  it('may have CRLF line ends and a byte order mark', () => {
    const text = `\uFEFF---\r\nname: tidy-up\r\ndescription: Tidies up.\r\n--- \r\nOne.\r\nTwo.\r\n`;
    expect(parseSkill(Buffer.from(text), 'tidy-up')).toMatchObject({ name: 'tidy-up', body: 'One.\r\nTwo.' });
  });

  it.each([
    ['PDF Tools', 'pdf-tools'],
    ['Summarise_Text', 'summarise-text'],
    ['ｗｉｄｅ', 'wide'],
    ['周报', '周报'],
  ])('named %s becomes %s', (given, name) => {
    expect(parseSkill(file(`name: ${given}\ndescription: d`), name).name).toBe(name);
  });

  it('reports what was corrected', () => {
    const long = `${'x'.repeat(1023)}😀😀`;
    const header = `name: Tidy Up\ndescription: ${long}\ntriggers: [${'y'.repeat(65)}]`;
    const skill = parseSkill(file(header), 'other');
    expect([...skill.description]).toHaveLength(1024);
    expect(skill.description.endsWith('x😀')).toBe(true);
    expect(skill.warnings).toEqual([
      'its name was changed to tidy-up',
      'its folder has another name',
      'its description has 1025 characters and is cut at 1024',
      'of its triggers, 1 were left out: at most 32 of 64 characters',
    ]);
  });
});

describe('a SKILL.md is refused', () => {
  const bomb = `a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]`;
  it.each([
    ['no header', Buffer.from('# Only text'), 'does not begin with a header'],
    [
      'a header without an end',
      Buffer.from('---\nname: a\ndescription: b\n'),
      'does not begin with a header',
    ],
    ['an endless header', file(`${minimal}\nx: ${'y'.repeat(20_000)}`), 'does not begin with a header'],
    ['an empty header', Buffer.from('---\n---\nbody'), 'not a table of keys'],
    ['a list', file('- a\n- b'), 'not a table of keys'],
    ['broken YAML', file('name: a\ndescription: b: c: d'), 'is not YAML'],
    ['the same key twice', file(`${minimal}\nname: b`), 'is not YAML'],
    ['aliases', file(`${minimal}\n${bomb}`), 'is not YAML'],
    ['deep nesting', file(`${minimal}\nx: ${'['.repeat(8000)}`), 'is not YAML'],
    ['no name', file('description: b'), 'it has no name'],
    ['a name that is a table', file('name: { a: b }\ndescription: b'), 'it has no name'],
    ['a name that is a path', file('name: ../up\ndescription: b'), 'its name is not'],
    ['a name that is markup', file('name: "<b>"\ndescription: b'), 'its name is not'],
    ['a long name', file(`name: ${'a'.repeat(65)}\ndescription: b`), 'its name is not'],
    ['no description', file('name: tidy-up'), 'it has no description'],
    ['an empty description', file('name: tidy-up\ndescription: " "'), 'it has no description'],
    ['other bytes', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff]), 'not text in UTF-8'],
    ['a NUL', file(minimal, 'a\0b'), 'not text in UTF-8'],
  ])('for %s', (_, bytes, reason) => {
    expect(() => parseSkill(bytes, 'tidy-up')).toThrow(reason);
  });
});
