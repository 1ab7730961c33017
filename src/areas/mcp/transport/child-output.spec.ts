import { Redactor } from '../../../platform/logging/redactor.js';
import { ChildOutputLog, RecentOutput } from './child-output.js';

function wordsOf(text: string): string | undefined {
  const words = new RecentOutput();
  for (const line of text.split('\n')) if (line.trim() !== '') words.add(line);
  return words.summary;
}

test.each([
  [
    'Node',
    `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/server.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.19.0`,
    "Error: Cannot find module '/srv/server.js'",
  ],
  [
    'Python',
    `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import mcp
ModuleNotFoundError: No module named 'mcp'`,
    "ModuleNotFoundError: No module named 'mcp'",
  ],
  [
    'Rust',
    "thread 'main' panicked at src/main.rs:2:5:\nnote: run with `RUST_BACKTRACE=1`",
    "thread 'main' panicked at src/main.rs:2:5:",
  ],
  ['npm', 'npm error code E404\nnpm error 404 Not Found', 'npm error 404 Not Found'],
  [
    'a program with words of its own',
    'starting\ncannot find the configuration',
    'cannot find the configuration',
  ],
  ['nothing but a version', 'Node.js v22.13.0', 'Node.js v22.13.0'],
  ['nothing', '', undefined],
])('finds the error in what %s writes at its end', (_who, text, words) => {
  expect(wordsOf(text)).toBe(words);
});

test('a secret that the end of the logged part cuts through is hidden whole', () => {
  const redactor = new Redactor();
  redactor.add('canary-of-a-tool-server');
  const lines: string[] = [];
  const info = (line: string) => lines.push(line);
  const logger = { trace: info, debug: info, info, warn: info, error: info };
  new ChildOutputLog(logger, (text) => redactor.redact(text)).write(
    `${'x'.repeat(2040)}canary-of-a-tool-server and more`,
  );
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('canary');
  expect(lines[0]?.length).toBe(2048);
});
