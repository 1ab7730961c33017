/** What others may use of webhooks: how deliveries are signed, and how a signature is checked. */
export {
  deliveryHeaders,
  type SignatureProblem,
  type SignedHeaders,
  signatureProblem,
} from './standard-webhooks.js';
