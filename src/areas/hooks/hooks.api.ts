/** What others may use of webhooks: how deliveries are signed, how a signature is checked, and which webhooks fail. */
export { DeliveryDirectory } from './delivery-directory.service.js';
export {
  deliveryHeaders,
  type SignatureProblem,
  type SignedHeaders,
  signatureProblem,
} from './standard-webhooks.js';
