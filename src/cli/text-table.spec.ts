import { textTable } from './text-table.js';

test('columns are as wide as their widest cell', () => {
  expect(
    textTable([
      ['ID', 'NAME'],
      ['1', 'ada'],
    ]),
  ).toBe('ID  NAME\n1   ada\n');
});

test('the widest columns are folded, after commas and at blanks where possible', () => {
  const rows = [
    ['ID', 'WORDS', 'END'],
    ['1', 'one,two,three', 'x'],
    ['2', 'four five six', 'y'],
    ['3', 'sevenhundred', 'z'],
  ];
  expect(textTable(rows, { width: 17, folded: [1] })).toBe(
    [
      'ID  WORDS     END',
      '1   one,two,  x',
      '    three',
      '2   four      y',
      '    five six',
      '3   sevenhun  z',
      '    dred',
      '',
    ].join('\n'),
  );
});

test('unfolded columns keep their width, and folded ones stay readable', () => {
  const rows = [
    ['ID', 'NAME'],
    ['i'.repeat(40), 'n'.repeat(12)],
  ];
  expect(textTable(rows, { width: 30, folded: [1] }).split('\n')).toEqual([
    `${'ID'.padEnd(40)}  NAME`,
    `${'i'.repeat(40)}  nnnnnn`,
    `${' '.repeat(40)}  nnnnnn`,
    '',
  ]);
});

test('cells do not control the terminal; colours are put around them', () => {
  const shape = { width: 20, folded: [], paint: (cell: string) => `\u001b[1m${cell}\u001b[0m` };
  const rows = [['NAME'], ['a\u001b[2Jb\u202e\u009bc']];
  expect(textTable(rows)).toBe('NAME\na?[2Jb??c\n');
  expect(textTable(rows, shape)).toContain('\u001b[1ma?[2Jb??c\u001b[0m\n');
});
