import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { isAmong } from './name-pattern.js';
import type { ToolContext } from './tool-catalog.port.js';

/** Which tools may run for whom, as the settings say at this moment. */
@Injectable()
export class ToolPolicy {
  constructor(private readonly settings: Settings) {}

  allows(name: string, { channel }: ToolContext): boolean {
    const { channels } = this.settings.current.tools;
    const rule = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
    return rule === undefined || (isAmong(name, rule.allow) && !isAmong(name, rule.deny));
  }
}
