import { randomUUID } from 'node:crypto';
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { NewTaskHook, TaskHook } from '../hooks/hooks.api.js';

const TOKEN_HEADER = 'x-a2a-notification-token';
/** A name of HTTP, such as `Bearer`. */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** What a header of HTTP can hold; a blank at either end would be lost. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const NAME = /^[\x21-\x7e]{1,128}$/;
const MAX_URL = 2048;
const MAX_TOKEN = 1024;
const MAX_CREDENTIALS = 4096;

/** What another agent gave so that it knows who notifies it; sealed between. */
interface Credentials {
  readonly token?: string;
  readonly authorization?: string;
}

/**
 * Who is to be told of a task, as the protocol says it. Throws `RequestMalformedError`; whether the URL may be called is looked
 * at when it is stored.
 * @param name for one without an id
 */
export function pushFrom(given: TaskPushNotificationConfig, name: string = randomUUID()): NewTaskHook {
  const { id, url, token, authentication } = given;
  if (id !== '' && !NAME.test(id)) refuse('id', 'must be at most 128 visible characters of ASCII');
  if (url === '' || url.length > MAX_URL) refuse('url', `must have 1 to ${MAX_URL} characters`);
  if (token !== '' && !fits(token, MAX_TOKEN))
    refuse('token', `must be at most ${MAX_TOKEN} characters of ASCII that a header can hold`);
  const authorization = authentication && authorizationOf(authentication);
  const secret: Credentials = { ...(token !== '' && { token }), ...(authorization && { authorization }) };
  const sealed = Object.keys(secret).length === 0 ? null : JSON.stringify(secret);
  return { configId: id || name, url, secret: sealed };
}

/** Without what it takes to be heard: that is never shown again. */
export function presentPush(taskId: string, { configId, url }: TaskHook): TaskPushNotificationConfig {
  return { ...{ tenant: '', id: configId, taskId, url, token: '' }, authentication: undefined };
}

/** @param secret as `pushFrom` made it */
export function pushHeaders(secret: string | undefined): Record<string, string> {
  const { token, authorization } = (secret === undefined ? {} : JSON.parse(secret)) as Credentials;
  return {
    ...(token !== undefined && { [TOKEN_HEADER]: token }),
    ...(authorization !== undefined && { authorization }),
  };
}

function authorizationOf({
  scheme,
  credentials,
}: NonNullable<TaskPushNotificationConfig['authentication']>): string {
  if (!SCHEME.test(scheme)) refuse('authentication.scheme', 'must be a scheme of HTTP, such as Bearer');
  if (!fits(credentials, MAX_CREDENTIALS))
    refuse(
      'authentication.credentials',
      `must be 1 to ${MAX_CREDENTIALS} characters of ASCII that a header can hold`,
    );
  return `${scheme} ${credentials}`;
}

function fits(text: string, most: number): boolean {
  return text.length <= most && VALUE.test(text);
}

function refuse(path: string, problem: string): never {
  throw new RequestMalformedError(`${path}: ${problem}`);
}
