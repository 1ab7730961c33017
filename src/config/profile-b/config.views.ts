import { ApiProperty } from '@nestjs/swagger';
import type { PatchOutcome } from '../configuration.js';

export class PatchedViewB {
  @ApiProperty({ type: [String], description: 'The keys applied', example: ['agent.max_turns'] })
  updated!: string[];

  @ApiProperty({ description: 'One of these keys takes effect at the next start only' })
  reload_required!: boolean;
}

export function presentPatchB({ updated, reloadRequired }: PatchOutcome): PatchedViewB {
  return { updated: [...updated], reload_required: reloadRequired };
}
