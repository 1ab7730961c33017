import { Injectable } from '@nestjs/common';
import { SessionsService } from '../sessions/sessions.service.js';
import type { Channel, ChannelProbe, ChannelStatus } from './channel.port.js';
import { ChannelActivity } from './channel-activity.js';
import { ChannelDirectory } from './channel-directory.js';

/** Which sessions a profile counts as active: `live` is active and idle together. */
export type CountedSessions = 'live' | 'active';

export interface ChannelReport {
  readonly name: string;
  readonly status: ChannelStatus;
  readonly connectedAt: Date | undefined;
  readonly error: string | undefined;
  readonly activeSessions: number;
}

export interface ChannelHealth extends ChannelProbe {
  readonly name: string;
  readonly lastMessageAt: Date | null;
}

/** What callers may see of channels and do to them (decisions, section 5). Throws `ChannelNotFound`. */
@Injectable()
export class ChannelReports {
  constructor(
    private readonly channels: ChannelDirectory,
    private readonly activity: ChannelActivity,
    private readonly sessions: SessionsService,
  ) {}

  list(counted: CountedSessions): Promise<ChannelReport[]> {
    return Promise.all(this.channels.all().map((channel) => this.report(channel, counted)));
  }

  /** Answers at once; the status is `reconnecting`. */
  restart(name: string): { name: string; status: ChannelStatus } {
    const channel = this.channels.get(name);
    channel.restart();
    return { name, status: channel.status };
  }

  async health(name: string): Promise<ChannelHealth> {
    const channel = this.channels.get(name);
    const [probe, lastMessageAt] = await Promise.all([channel.probe(), this.activity.lastMessageAt(name)]);
    return { name, ...probe, lastMessageAt };
  }

  async test(name: string): Promise<{ name: string } & ChannelProbe> {
    return { name, ...(await this.channels.get(name).probe()) };
  }

  private async report(channel: Channel, counted: CountedSessions): Promise<ChannelReport> {
    const { name, status, connectedAt, error } = channel;
    const activeSessions = await this.sessions.count({ status: counted, channel: name });
    return { name, status, connectedAt, error, activeSessions };
  }
}
