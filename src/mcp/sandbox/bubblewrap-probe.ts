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
      if (error === null) resolve(undefined);
      else resolve(stderr.trim().split('\n')[0] || error.message.split('\n')[0] || 'it does not start');
    });
  });
}
