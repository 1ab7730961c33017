import { Module } from '@nestjs/common';
import { ContentRetention } from './content-retention.service.js';

/** Deletes texts when their retention ends; persons are exported and erased on the command line. */
@Module({ providers: [ContentRetention] })
export class PrivacyModule {}
