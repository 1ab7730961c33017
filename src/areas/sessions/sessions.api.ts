/** What other areas may use: to create, find, list and end sessions, to send them messages, to decide about their calls, and to know their channels. */
export { Approvals } from './approvals.service.js';
export { API_CHANNEL, ChannelDirectory } from './channel-directory.js';
export { MessagesService } from './messages.service.js';
export type { Session } from './session.js';
export { ApprovalDecided } from './sessions.errors.js';
export { SessionsService } from './sessions.service.js';
