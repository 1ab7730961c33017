import { consoleLines } from './console-lines.js';
import { LEVEL_RANKS } from './log-level.js';

const json =
  '{"level":"warn","timestamp":"2026-03-01T12:34:56.789Z","module":"agent::turn","session_id":"sess_1","message":"slow"}\n';

function shown(format: 'auto' | 'json' | 'pretty', isTerminal: boolean): string {
  let text = '';
  consoleLines(format, isTerminal, (written) => {
    text += written;
  })(json, LEVEL_RANKS.warn);
  return text;
}

test('auto is pretty on a terminal, with colours, and JSON otherwise', () => {
  expect(shown('auto', true)).toContain('\u001b[33mWARN \u001b[0m');
  expect(shown('auto', false)).toBe(json);
  expect(shown('json', true)).toBe(json);
});

test('pretty outside a terminal has no colours', () => {
  expect(shown('pretty', false)).toBe('12:34:56.789 WARN  agent::turn slow session_id=sess_1\n');
});
