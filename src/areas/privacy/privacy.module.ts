import { Module } from '@nestjs/common';
import { ContentRetention } from './content-retention.service.js';

/** Forgets texts when their time has come; persons are exported and erased at the command line. */
@Module({ providers: [ContentRetention] })
export class PrivacyModule {}
