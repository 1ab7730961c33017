import { ApiProperty } from '@nestjs/swagger';
import type { PatchOutcome } from '../configuration.js';

export class PatchedViewB {
  @ApiProperty({ type: [String], description: 'The keys applied', example: ['agent.max_turns'] })
  updated!: string[];

  @ApiProperty({ description: 'One of these keys takes effect at the next start only' })
  reload_required!: boolean;
}

/** Each can be sent as it stands. */
export const PATCH_EXAMPLES = {
  set: { summary: 'Set a key', value: { 'agent.max_turns': 30 } },
  give_back: { summary: 'Give a key back to the file', value: { 'agent.max_turns': null } },
};

export function presentPatchB({ updated, reloadRequired }: PatchOutcome): PatchedViewB {
  return { updated: [...updated], reload_required: reloadRequired };
}
