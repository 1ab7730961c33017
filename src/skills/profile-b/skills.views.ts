import { ApiProperty } from '@nestjs/swagger';
import type { Skill } from '../skill.js';

export class SkillItemViewB {
  @ApiProperty()
  name!: string;

  @ApiProperty({ example: 'builtin' })
  source!: string;

  @ApiProperty()
  description!: string;

  @ApiProperty({ type: [String] })
  triggers!: string[];
}

export class SkillListViewB {
  @ApiProperty({ type: [SkillItemViewB] })
  skills!: SkillItemViewB[];
}

export function presentSkillListB(skills: readonly Skill[]): SkillListViewB {
  return {
    skills: skills.map(({ name, source, description, triggers }) => ({
      name,
      source,
      description,
      triggers: [...triggers],
    })),
  };
}
