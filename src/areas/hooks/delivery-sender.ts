import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { OutboundFailed, OutboundRefused } from '../../platform/outbound/outbound.errors.js';
import { OutboundClient, type OutboundHeaders } from '../../platform/outbound/outbound-client.js';
import { CannotOpen } from '../../platform/secrets/secret-box.js';
import { Settings } from '../../platform/settings/settings.js';
import type { AttemptError, Delivery, Outcome } from './delivery.js';
import { HookSecrets } from './hook-secrets.js';
import { RetryStore } from './retry.store.js';
import { nextDelaySecs, retryAfterSecs } from './retry-schedule.js';
import { deliveryBody, deliveryHeaders } from './standard-webhooks.js';
import { TASK_EVENT, TaskNotifications, taskChange } from './task-notifications.js';

interface Said {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes one attempt and returns its outcome. */
@Injectable()
export class DeliverySender {
  private readonly logger: Logger;

  constructor(
    private readonly client: OutboundClient,
    private readonly secrets: HookSecrets,
    private readonly deliveries: RetryStore,
    private readonly settings: Settings,
    private readonly notifications: TaskNotifications,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /** Undefined when the signal aborted it, which does not count as an attempt. Throws when the payload cannot be read. */
  async attempt(delivery: Delivery, signal: AbortSignal): Promise<Outcome | undefined> {
    const data = delivery.data ?? (await this.deliveries.dataOf(delivery.eventId));
    try {
      const said = await this.said(delivery, data);
      const { status, headers } = await this.post(delivery, said, signal);
      return status >= 200 && status < 300
        ? delivered(delivery, status)
        : this.refused(delivery, status, headers);
    } catch (error) {
      if (error instanceof OutboundFailed && error.reason === 'aborted') return undefined;
      return this.failed(delivery, { error: errorLabel(error) });
    }
  }

  /** A notification about a task has the format of its face, and shows the receiver the secret it gave for that. */
  private async said(delivery: Delivery, data: string): Promise<Said> {
    const unixSecs = Math.floor(Date.now() / 1000);
    const { hookId, eventId, occurredAt, event, secrets } = delivery;
    if (event !== TASK_EVENT) {
      const body = deliveryBody(delivery, data);
      return {
        body,
        headers: deliveryHeaders(eventId, body, this.secrets.signingKeys(hookId, secrets), unixSecs),
      };
    }
    const sealed = secrets[0] ?? null;
    const secret = sealed === null ? undefined : this.secrets.open(hookId, sealed);
    const { body, headers } = await this.notifications.of({ ...taskChange(data), at: occurredAt }, secret);
    return { body, headers: { ...deliveryHeaders(eventId, body, [], unixSecs), ...headers } };
  }

  private post(delivery: Delivery, { body, headers }: Said, signal: AbortSignal) {
    return this.client.send({
      method: 'POST',
      url: delivery.url,
      headers,
      body,
      timeoutMs: this.settings.current.hooks.timeout_ms,
      signal,
    });
  }

  private refused(delivery: Delivery, status: number, headers: OutboundHeaders): Outcome {
    const wait = retryAfterSecs(headers['retry-after'], Date.now());
    return this.failed(delivery, { error: `http_${status}`, status, wait });
  }

  private failed(
    delivery: Delivery,
    { error, status, wait }: { error: AttemptError; status?: number; wait?: number | undefined },
  ): Outcome {
    const { id: deliveryId, hookId, eventId } = delivery;
    const attempts = delivery.attempts + 1;
    const gone = status === 410;
    const delaySecs = gone ? undefined : nextDelaySecs({ attempts, retryAfterSecs: wait });
    const fields = { hook_id: hookId, event_id: eventId, attempts, error };
    if (delaySecs !== undefined)
      this.logger.debug('a delivery failed', { ...fields, next_attempt_secs: delaySecs });
    else
      this.logger.warn(`delivery to webhook ${hookId} given up after ${attempts} attempts: ${error}`, fields);
    return {
      deliveryId,
      hookId,
      status: delaySecs === undefined ? 'failed' : 'pending',
      httpStatus: status ?? null,
      error,
      delaySecs: delaySecs ?? null,
      gone,
    };
  }
}

function delivered({ id: deliveryId, hookId }: Delivery, httpStatus: number): Outcome {
  return { deliveryId, hookId, status: 'delivered', httpStatus, error: null, delaySecs: null, gone: false };
}

function errorLabel(error: unknown): AttemptError {
  if (error instanceof OutboundFailed) return error.reason;
  if (error instanceof OutboundRefused) return `refused_${error.reason}`;
  if (error instanceof CannotOpen) return 'secret_unreadable';
  throw error;
}
