import { Module } from '@nestjs/common';
import { AssertionKeysStore } from './assertion-keys.store.js';
import { Assertions } from './assertions.service.js';
import { JwksController } from './wire/jwks.controller.js';

/** What the gateway signs, so that tool servers know for whom it acts. */
@Module({ controllers: [JwksController], providers: [AssertionKeysStore, Assertions], exports: [Assertions] })
export class AssertionsModule {}
