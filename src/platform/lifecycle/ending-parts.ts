import type { INestApplicationContext } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

const HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'] as const;
/**
 * A part that takes longer than this is named too: parts end one after the other, and the slow one is not always the
 * last.
 */
const SLOW_MS = 1000;

interface EndingPart {
  readonly name: string;
  readonly beganAt: number;
  endedAt?: number;
}

type Hook = (...given: unknown[]) => unknown;

/** The parts of an application that were asked to end. A stop that takes too long can then say what it waits for. */
export class EndingParts {
  private readonly parts: EndingPart[] = [];

  /** For an application that has started. */
  static of(app: INestApplicationContext): EndingParts {
    const ending = new EndingParts();
    const seen = new Set<unknown>();
    for (const module of app.get(ModulesContainer, { strict: false }).values())
      for (const { instance } of [...module.providers.values(), ...module.controllers.values()]) {
        if (typeof instance !== 'object' || instance === null || seen.has(instance)) continue;
        seen.add(instance);
        ending.watch(instance);
      }
    return ending;
  }

  private watch(part: object): void {
    const hooked = part as Partial<Record<(typeof HOOKS)[number], Hook>>;
    for (const name of HOOKS) {
      const hook = hooked[name];
      if (typeof hook === 'function')
        hooked[name] = (...given) => this.follow(part.constructor.name, () => hook.apply(part, given));
    }
  }

  /** What is still ending, and what was slow. */
  toString(): string {
    const now = performance.now();
    const left = this.parts.filter(({ endedAt }) => endedAt === undefined);
    const slow = this.parts.filter(({ beganAt, endedAt = beganAt }) => endedAt - beganAt >= SLOW_MS);
    return [
      left.length === 0 ? 'None is still ending' : `Still ending: ${list(left, now)}`,
      ...(slow.length === 0 ? [] : [`ended slowly: ${list(slow, now)}`]),
    ].join('; ');
  }

  private async follow(name: string, end: () => unknown): Promise<void> {
    const part: EndingPart = { name, beganAt: performance.now() };
    this.parts.push(part);
    try {
      await end();
    } finally {
      part.endedAt = performance.now();
    }
  }
}

function list(parts: readonly EndingPart[], now: number): string {
  return parts
    .map(({ name, beganAt, endedAt = now }) => `${name} (${((endedAt - beganAt) / 1000).toFixed(1)} s)`)
    .join(', ');
}
