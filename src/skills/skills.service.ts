import { Injectable } from '@nestjs/common';
import type { Skill } from './skill.js';

/** The skills of this gateway. Nothing loads any yet, so there are none. */
@Injectable()
export class Skills {
  private readonly skills: readonly Skill[] = [];

  list(): readonly Skill[] {
    return this.skills;
  }
}
