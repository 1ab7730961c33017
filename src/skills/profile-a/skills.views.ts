import { ApiProperty } from '@nestjs/swagger';
import type { Skill } from '../skill.js';

export class SkillItemViewA {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [String] })
  tools_required!: string[];
}

export class SkillListViewA {
  @ApiProperty({ type: [SkillItemViewA] })
  skills!: SkillItemViewA[];
}

export function presentSkillListA(skills: readonly Skill[]): SkillListViewA {
  return {
    skills: skills.map(({ name, description, toolsRequired }) => ({
      name,
      description,
      tools_required: [...toolsRequired],
    })),
  };
}
