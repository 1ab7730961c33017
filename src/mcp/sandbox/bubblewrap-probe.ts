import { execFile } from 'node:child_process';
import { bubblewrapped } from './bubblewrap.js';

const PROBE_MS = 5000;

/** Whether bubblewrap works on this machine with what children are given: undefined when it does, else why not. */
export function bubblewrapProblem(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const probe = { file: 'true', args: [], cwd: undefined, env };
  const { file, args } = bubblewrapped(
    probe,
    { writablePaths: [], network: false },
    { folders: [], files: [] },
  );
  return new Promise((resolve) => {
    execFile(file, [...args], { env: { ...env }, timeout: PROBE_MS }, (error, _stdout, stderr) => {
      resolve(error === null ? undefined : firstLineOf(stderr.trim() || error.message));
    });
  });
}

function firstLineOf(text: string): string {
  return text.split('\n', 1).join('');
}
