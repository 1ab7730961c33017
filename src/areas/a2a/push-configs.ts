import { randomUUID } from 'node:crypto';
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { NewTaskHook, TaskHook } from '../hooks/hooks.api.js';

const TOKEN_HEADER = 'x-a2a-notification-token';
/** An HTTP authentication scheme, such as `Bearer`. */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** What an HTTP header can hold; a space at either end would be lost. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const NAME = /^[\x21-\x7e]{1,128}$/;
const MAX_URL = 2048;
const MAX_TOKEN = 1024;
const MAX_CREDENTIALS = 4096;

/** The credentials that another agent gave so that it can recognise us; stored sealed. */
interface Credentials {
  readonly token?: string;
  readonly authorization?: string;
}

/**
 * Who is to be notified of a task, in the protocol's form. Throws `RequestMalformedError`; the URL is checked when it
 * is stored.
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

/** Without the credentials, which are never shown again. */
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
