import type { WebClient } from '@slack/web-api';

const MAX_PEOPLE = 5000;
const KNOWN_FOR_MS = 3_600_000;
/** After a failure, for instance without the scope, nobody is asked for so long. */
const UNKNOWN_FOR_MS = 60_000;

interface Known {
  readonly name: string;
  readonly until: number;
}

/** What people call each other. Who cannot be looked up goes by their id. */
export class SlackPeople {
  private readonly known = new Map<string, Known>();

  /** Never rejects. */
  async nameOf(user: string, api: WebClient): Promise<string> {
    const known = this.known.get(user);
    if (known !== undefined && known.until > Date.now()) return known.name;
    const name = await api.users.info({ user }).then(
      ({ user: found }) => found?.profile?.display_name || found?.real_name || found?.name,
      () => undefined,
    );
    if (this.known.size >= MAX_PEOPLE) this.known.clear();
    this.known.set(user, {
      name: name ?? user,
      until: Date.now() + (name === undefined ? UNKNOWN_FOR_MS : KNOWN_FOR_MS),
    });
    return name ?? user;
  }
}
