/** What others may use of webhooks: how deliveries are signed, and how a signature is checked. */
export { deliveryHeaders } from './delivery-request.js';
export { type SignatureProblem, type SignedHeaders, signatureProblem } from './signature-check.js';
