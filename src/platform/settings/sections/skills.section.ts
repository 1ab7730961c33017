import { z } from 'zod';
import { fileOnlyText, integer } from './key-types.js';

/** Skills become part of prompts, so only the file and the environment choose where they come from. */
export const skillsSection = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether skills are offered.'),
  builtin: z.boolean().default(true).describe('Whether the skills that ship with the gateway are included.'),
  plugins: z.boolean().default(true).describe('Whether the skills that plugins carry are included.'),
  directory: fileOnlyText().describe('Folder with one folder for each skill of your own; empty for none.'),
  watch: z.boolean().default(true).describe('Whether changes on disk are noticed as they happen.'),
  rescan_secs: integer(1, 86_400)
    .default(15)
    .describe('How often the folders are read again in any case, in seconds.'),
  max_skills: integer(1, 1000).default(200).describe('Most skills.'),
  max_skill_bytes: integer(1, 65_536).default(65_536).describe('Most bytes of one SKILL.md.'),
  max_file_bytes: integer(1, 65_536)
    .default(65_536)
    .describe('Most bytes of any other file of a skill that the model may read.'),
  max_catalog_bytes: integer(0, 65_536)
    .default(16_384)
    .describe(
      'Most bytes that the names and descriptions of all skills take in a system prompt; 0 leaves them out.',
    ),
  max_triggered: integer(0, 16).default(3).describe('Most skills that one message may trigger.'),
});

export type SkillsSettings = z.output<typeof skillsSection>;
