import { ApiProperty } from '@nestjs/swagger';

export class ReloadedViewA {
  @ApiProperty()
  reloaded!: boolean;

  @ApiProperty({ type: [String], description: 'Dotted keys that changed', example: ['agent.max_turns'] })
  changes!: string[];
}

export function presentReloadA(changes: readonly string[]): ReloadedViewA {
  return { reloaded: true, changes: [...changes] };
}
