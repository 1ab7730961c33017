import { progressOn } from './progress.js';

const shown = (isTerminal: boolean): string => {
  let text = '';
  const progress = progressOn({ err: (part) => (text += part) }, 'verify', isTerminal);
  for (let done = 0; done <= 2000; done += 1) progress.show(done, 2000);
  progress.end();
  progress.end();
  return text;
};

test('long commands show progress on a terminal (rows done of rows to do)', () => {
  expect(shown(true)).toMatch(
    /^\rverify: 0 of 2000 rows \(0 %\)[\s\S]*\rverify: 2000 of 2000 rows \(100 %\)\n$/,
  );
  expect(shown(true).split('\r').length).toBeLessThan(20);
});

test('and nothing elsewhere', () => {
  expect(shown(false)).toBe('');
});
