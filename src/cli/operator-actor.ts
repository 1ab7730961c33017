import { userInfo } from 'node:os';

/** The person at this command line, for the audit log. */
export function operatorActor(): string {
  try {
    return `${userInfo().username} at the command line`;
  } catch {
    // In a container the user may have no name.
    return 'the command line';
  }
}
