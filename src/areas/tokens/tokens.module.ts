import { Module } from '@nestjs/common';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { TokenAdmin } from './token-admin.service.js';

/** Tokens as those manage them who hold one. */
@Module({ imports: [TokensModule], providers: [TokenAdmin], exports: [TokenAdmin] })
export class TokenAdminModule {}
