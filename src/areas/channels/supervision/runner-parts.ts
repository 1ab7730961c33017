import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { ChannelDirectory } from '../../sessions/sessions.api.js';
import { ChannelActivity } from '../channel-activity.js';
import type { InboundMessage } from '../channel-adapter.port.js';
import { ChannelAdapters } from '../channel-adapters.js';
import { ChannelStates, type ReceiverLease } from '../channel-states.store.js';
import { ConversationStore } from '../conversations/conversation.store.js';
import { ConversationWorker } from '../conversations/conversation-worker.service.js';
import { admissionOf } from '../inbound/admission.js';
import { Inbox } from '../inbound/inbox.store.js';
import type { RunnerParts } from './channel-runner.js';

const MAX_CONVERSATIONS = 200;

/** Connects the receiver of one channel to the stores, under one lease. */
@Injectable()
export class RunnerPartsFactory {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly states: ChannelStates,
    private readonly directory: ChannelDirectory,
    private readonly inbox: Inbox,
    private readonly conversations: ConversationStore,
    private readonly worker: ConversationWorker,
    private readonly activity: ChannelActivity,
    private readonly redactor: Redactor,
    private readonly logs: Logs,
  ) {}

  of(lease: ReceiverLease): RunnerParts {
    const { name } = lease;
    const logger = this.logs.for(`channel::${name}`);
    return {
      logger,
      adapter: () => this.adapters.get(name),
      cursor: () => this.states.cursorOf(name),
      conversations: () => this.conversations.recent(name, MAX_CONVERSATIONS),
      store: async (messages, cursor) => {
        const admitted = messages.filter((message) => this.admits(name, message, logger));
        const added = await this.inbox.receive(lease, admitted, cursor);
        if (added === 0) return;
        this.activity.note(name);
        this.worker.wakeSignal.notify();
      },
      write: (status, error) => this.states.write(lease, status, error),
      redact: (text) => this.redactor.redact(text),
    };
  }

  private admits(name: string, message: InboundMessage, logger: Logger): boolean {
    const settings = this.directory.settingsOf(name);
    const admission = settings === undefined ? 'not_allowed' : admissionOf(message, settings);
    if (admission === 'not_allowed') {
      // Operators need the id to add the sender to allowed_users.
      logger.info('sender is not in allowed_users; message ignored', { sender: message.sender.id });
    }
    return admission === 'admitted';
  }
}
