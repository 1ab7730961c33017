import { BadRequest } from '../../errors/gateway-error.js';
import { newId } from '../../ids/typeid.js';
import { MOST_ATTACHED_BYTES } from '../attachments/bad-attachment.js';
import type { NewAttachment, RemoteAttachment, SentMessage } from '../message.js';
import type { AttachmentRequest, SendMessageRequest } from './message.requests.js';

/** The rules of a message that no single field shows. Throws `BadRequest` naming the field. */
export function newUserMessage(request: SendMessageRequest): SentMessage {
  const attachments = (request.attachments ?? []).map(newAttachment);
  const content = request.content ?? '';
  if (content.trim() === '' && attachments.length === 0) {
    throw badField('content', 'must not be empty unless there are attachments');
  }
  const bytes = attachments.reduce((sum, one) => sum + ('data' in one ? one.sizeBytes : 0), 0);
  if (bytes > MOST_ATTACHED_BYTES) throw badField('attachments', 'must be at most 20 MiB decoded in all');
  return { content, attachments };
}

function newAttachment(request: AttachmentRequest, index: number): NewAttachment | RemoteAttachment {
  const path = `attachments.${index}`;
  if ((request.data === undefined) === (request.url === undefined)) {
    throw badField(path, 'must have exactly one of data and url');
  }
  const { type, name = null, mime_type: mimeType, url } = request;
  if (url !== undefined) return { type, name, mimeType, url };
  const data = Buffer.from(request.data ?? '', 'base64');
  return { id: newId('att'), type, name, mimeType, sizeBytes: data.length, data };
}

function badField(path: string, message: string): BadRequest {
  return new BadRequest(`${path}: ${message}`, { details: { fields: [{ path, message }] } });
}
