import { Module } from '@nestjs/common';
import { KeyRingWatch } from './key-ring-watch.service.js';

/** Keeps the box of this replica in step with the others. */
@Module({ providers: [KeyRingWatch] })
export class SecretsModule {}
