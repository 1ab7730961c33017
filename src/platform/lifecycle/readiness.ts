import { Injectable } from '@nestjs/common';

/** Whether this process accepts requests: not before it has started, and not once it drains. */
@Injectable()
export class Readiness {
  private state: 'starting' | 'ready' | 'draining' = 'starting';

  get isReady(): boolean {
    return this.state === 'ready';
  }

  get hasStarted(): boolean {
    return this.state !== 'starting';
  }

  get isDraining(): boolean {
    return this.state === 'draining';
  }

  ready(): void {
    if (this.state === 'starting') this.state = 'ready';
  }

  drain(): void {
    this.state = 'draining';
  }
}
