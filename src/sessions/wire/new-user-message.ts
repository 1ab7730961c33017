import { BadRequest } from '../../errors/gateway-error.js';
import { newId } from '../../ids/typeid.js';
import type { NewAttachment, NewUserMessage } from '../message.js';
import type { AttachmentRequest, SendMessageRequest } from './message.requests.js';

const MOST_ATTACHED_BYTES = 20 * 1024 * 1024;

/** The rules of a message that no single field shows. Throws `BadRequest` naming the field. */
export function newUserMessage(request: SendMessageRequest): NewUserMessage {
  const attachments = (request.attachments ?? []).map(newAttachment);
  const content = request.content ?? '';
  if (content.trim() === '' && attachments.length === 0) {
    throw badField('content', 'must not be empty unless there are attachments');
  }
  const bytes = attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > MOST_ATTACHED_BYTES) throw badField('attachments', 'must be at most 20 MiB decoded in all');
  return { content, attachments };
}

function newAttachment(request: AttachmentRequest, index: number): NewAttachment {
  const path = `attachments.${index}`;
  if ((request.data === undefined) === (request.url === undefined)) {
    throw badField(path, 'must have exactly one of data and url');
  }
  if (request.data === undefined) {
    throw badField(`${path}.url`, 'is not fetched here: send the bytes as data');
  }
  const data = Buffer.from(request.data, 'base64');
  const { type, name = null, mime_type: mimeType } = request;
  return { id: newId('att'), type, name, mimeType, sizeBytes: data.length, data };
}

function badField(path: string, message: string): BadRequest {
  return new BadRequest(`${path}: ${message}`, { details: { fields: [{ path, message }] } });
}
