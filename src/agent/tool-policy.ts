import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { isAmong } from './name-pattern.js';
import type { ToolContext } from './tool-catalog.port.js';

interface ToolRule {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Which tools may run for whom, as the settings say at this moment: whoever has a rule, theirs must allow it. */
@Injectable()
export class ToolPolicy {
  constructor(private readonly settings: Settings) {}

  allows(name: string, { channel, token }: Pick<ToolContext, 'channel' | 'token'>): boolean {
    const { channels, tokens } = this.settings.current.tools;
    const rules = [
      ruleOf(channels, channel),
      ruleOf(tokens, token?.name),
      // A name may be given to another token one day; an id never is.
      ruleOf(tokens, token?.id),
    ];
    return rules.every((rule) => rule === undefined || permits(rule, name));
  }
}

function ruleOf(rules: Readonly<Record<string, ToolRule>>, key: string | undefined): ToolRule | undefined {
  return key !== undefined && Object.hasOwn(rules, key) ? rules[key] : undefined;
}

function permits({ allow, deny }: ToolRule, name: string): boolean {
  return isAmong(name, allow) && !isAmong(name, deny);
}
