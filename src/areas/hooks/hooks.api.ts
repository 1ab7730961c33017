/** What others may use of webhooks: how deliveries are signed, and how a signature is checked. */
export { deliveryHeaders } from './delivery-request.js';
export { signatureProblem, type SignatureProblem, type SignedHeaders } from './signature-check.js';
