import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Logger, Logs } from '../logging/logger.js';
import { DueWork } from '../runtime/due-work.service.js';
import { SEALING_KEY } from './master-key-check.js';
import { SecretBox } from './secret-box.js';

const LOOK_MS = 800;

/**
 * Follows `secrets rotate`: seals with the key that the database names, so that every replica can open what another
 * sealed.
 */
@Injectable()
export class KeyRingWatch implements OnModuleInit {
  private readonly logger: Logger;
  private known: string;

  constructor(
    private readonly box: SecretBox,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.known = box.keyId;
    this.logger = logs.for('secrets');
  }

  onModuleInit(): void {
    this.due.watch({
      question: SEALING_KEY,
      everyMs: LOOK_MS,
      onAnswer: (keyId) => {
        if (typeof keyId === 'string' && keyId !== this.known) this.follow(keyId);
      },
    });
  }

  private follow(keyId: string): void {
    this.known = keyId;
    if (this.box.sealWith(keyId))
      this.logger.info('secrets are sealed with another master key now', { key: keyId });
    else
      this.logger.error(
        'the master key was rotated to one that this replica does not have; start it with the new GATEWAY_MASTER_KEY',
        { key: keyId },
      );
  }
}
