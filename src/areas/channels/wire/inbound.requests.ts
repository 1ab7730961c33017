import { TextLength, Utf8Length } from '../../../http/validation/field.decorator.js';

/** POST /inbound/:channel. */
export class InboundMessageRequest {
  @TextLength(1, 200)
  conversation!: string;

  @TextLength(1, 200)
  user!: string;

  @Utf8Length(1, 262_144)
  content!: string;
}
