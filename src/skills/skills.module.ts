import { Module } from '@nestjs/common';
import { Skills } from './skills.service.js';

/** Skills. */
@Module({ providers: [Skills], exports: [Skills] })
export class SkillsModule {}
