/** What others may use of webhooks: how deliveries are signed and checked, which webhooks fail, how many there are, and who is told of one task. */
export { DeliveryDirectory } from './delivery-directory.service.js';
export { HookLimits } from './hook-limits.js';
export {
  deliveryHeaders,
  type SignatureProblem,
  type SignedHeaders,
  signatureProblem,
} from './standard-webhooks.js';
export type { NewTaskHook, TaskHook } from './task-hook.js';
export { TaskHooks } from './task-hooks.service.js';
export { type TaskChange, type TaskNotification, TaskNotifications } from './task-notifications.js';
