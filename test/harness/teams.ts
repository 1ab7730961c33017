import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { channelEnv } from './channels.js';
import { completeAnswers } from './complete-answers.js';
import { eventually } from './eventually.js';

export const APP_ID = '11111111-2222-3333-4444-555555555555';
export const TENANT = '99999999-8888-7777-6666-555555555555';
export const APP_SECRET = 'canary-client-secret-of-nobody';
const ISSUER = 'https://connector.example.com';
const ADA = { id: '29:ada', name: 'Ada', aadObjectId: '0000000a-0000-0000-0000-000000000001' };
const BOT = { id: `28:${APP_ID}`, name: 'Agent' };

type Json = Record<string, unknown>;

export interface TeamsCallSeen {
  readonly method: TeamsMethod;
  readonly path: string;
  readonly body: Json;
}

export interface SaidAtTeams {
  readonly id: string;
  readonly conversation: string;
  readonly text: string;
  readonly attachments: readonly Json[];
}

export interface Delivered {
  readonly status: number;
  readonly body: Json;
}

export type TeamsMethod =
  | 'openid'
  | 'keys'
  | 'token'
  | 'send'
  | 'edit'
  | 'delete'
  | 'typing'
  | 'file'
  | 'upload';
export type TeamsFailure = 'its answer is lost' | 'its answer hangs' | ((response: ServerResponse) => void);

export const ANSWERS_503: TeamsFailure = (response) => response.writeHead(503).end();

export interface Posting {
  readonly conversation?: string;
  readonly kind?: 'personal' | 'groupChat' | 'channel';
  readonly from?: Json;
  readonly more?: Json;
  /** Claims that replace the right ones in the token. */
  readonly claims?: Json;
  readonly kid?: string;
}

/**
 * Teams' connector as a bot sees it, written from the published protocol (Bot Framework, REST and authentication):
 * keys with endorsements, tokens for the app, activities in both directions. It can refuse, hang or break off.
 */
export class TestTeams {
  readonly calls: TeamsCallSeen[] = [];
  secret = APP_SECRET;
  /** What happens to every call of a kind, as long as it is set. */
  readonly out = new Map<TeamsMethod, TeamsFailure>();
  /** The tokens that the connector accepts; clearing it expires them. */
  readonly tokens = new Set<string>();
  /** What was uploaded to people's OneDrive. */
  readonly uploads: { readonly path: string; readonly range: string; readonly data: Buffer }[] = [];
  private readonly files = new Map<string, Buffer>();
  private readonly atSharePoint: { readonly data: Buffer; readonly type: string }[] = [];
  private readonly failures: { readonly method: TeamsMethod; readonly failure: TeamsFailure }[] = [];
  private readonly saidSoFar: SaidAtTeams[] = [];
  private readonly retired: Awaited<ReturnType<typeof keyPair>>[] = [];
  private count = 0;
  private sent = 0;
  private server = this.makeServer();
  private port = 0;

  private constructor(private keys: Awaited<ReturnType<typeof keyPair>>[]) {}

  static async start(): Promise<TestTeams> {
    const teams = new TestTeams([await keyPair('teams', ['msteams']), await keyPair('other', ['skype'])]);
    await teams.comeBack();
    return teams;
  }

  /** Nobody answers any more. */
  async goAway(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  async comeBack(): Promise<void> {
    this.server = this.makeServer();
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  private makeServer(): Server {
    return createServer((request, response) => {
      void this.answer(request, response).catch(() => response.destroy());
    });
  }

  /** The connector now signs with another key, and no longer publishes the old one. */
  async rotateKeys(kid: string): Promise<void> {
    this.retired.push(...this.keys);
    this.keys = [await keyPair(kid, ['msteams'])];
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get service(): string {
    return `${this.url}/emea/`;
  }

  /**
   * A person writes to the bot.
   * @returns the status of the gateway's response
   */
  async write(gateway: string, text: string, posting: Posting = {}): Promise<number> {
    return this.post(gateway, this.activity(text, posting), posting);
  }

  activity(
    text: string,
    { conversation = 'a:1', kind = 'personal', from = ADA, more = {} }: Posting = {},
  ): Json {
    this.count += 1;
    return {
      type: 'message',
      id: `1700000000${this.count}`,
      channelId: 'msteams',
      serviceUrl: this.service,
      timestamp: new Date().toISOString(),
      ...{ from, recipient: BOT, text, textFormat: 'plain' },
      conversation: { id: conversation, conversationType: kind, tenantId: TENANT },
      channelData: { tenant: { id: TENANT } },
      ...more,
    };
  }

  async post(gateway: string, activity: Json, posting: Posting = {}): Promise<number> {
    return (await this.deliver(gateway, activity, posting)).status;
  }

  /**
   * A person clicks on a card, and their client sends this value.
   * @returns the gateway's response
   */
  click(gateway: string, value: unknown, posting: Posting = {}): Promise<Delivered> {
    const { text: _none, textFormat: _format, ...about } = this.activity('', posting);
    const click = { type: 'invoke', name: 'adaptiveCard/action', value, ...posting.more };
    return this.deliver(gateway, { ...about, ...click }, posting);
  }

  /** A person answers the card that asks whether they want a file. */
  consent(
    gateway: string,
    { id: replyToId, attachments: [card] }: SaidAtTeams,
    action: 'accept' | 'decline',
    posting: Posting = {},
  ): Promise<Delivered> {
    const { text: _none, textFormat: _format, ...about } = this.activity('', posting);
    const context = (card?.['content'] as { acceptContext?: unknown } | undefined)?.acceptContext;
    const fileName = String(card?.['name']);
    const uploadInfo = {
      ...{
        name: fileName,
        contentUrl: `https://onedrive.example.com/${fileName}`,
        uniqueId: `of ${fileName}`,
      },
      ...{
        fileType: fileName.split('.').at(-1),
        uploadUrl: `${this.url}/upload/${encodeURIComponent(fileName)}`,
      },
    };
    const value = { type: 'fileUpload', action, context, ...(action === 'accept' ? { uploadInfo } : {}) };
    const invoke = { type: 'invoke', name: 'fileConsent/invoke', replyToId, value, ...posting.more };
    return this.deliver(gateway, { ...about, ...invoke }, posting);
  }

  async deliver(gateway: string, activity: Json, posting: Posting = {}): Promise<Delivered> {
    const { status, text } = await this.deliverText(gateway, JSON.stringify(activity), posting);
    return { status, body: JSON.parse(text) as Json };
  }

  /** Whatever it is. */
  async deliverText(
    gateway: string,
    body: string,
    { claims = {}, kid = String(this.keys[0]?.jwk.kid) }: Posting = {},
  ): Promise<{ status: number; text: string }> {
    const key = [...this.keys, ...this.retired].find(({ jwk }) => jwk.kid === kid) ?? this.keys[0];
    if (key === undefined) throw new Error('There is no key.');
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: ISSUER, aud: APP_ID, serviceurl: this.service, nbf: now, exp: now + 600, ...claims };
    const token = await new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid }).sign(key.privateKey);
    const response = await fetch(`${gateway}/inbound/teams/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` },
      body,
    });
    return { status: response.status, text: await response.text() };
  }

  file(data: Buffer): string {
    this.files.set(`f${this.files.size}`, data);
    return `${this.url}/emea/v3/attachments/f${this.files.size - 1}/views/original`;
  }

  /** A file in a personal chat: at SharePoint, at an address that contains the permission. */
  shared(data: Buffer, type: string): string {
    this.atSharePoint.push({ data, type });
    return `${this.url.replace('127.0.0.1', 'localhost')}/sharepoint/${this.atSharePoint.length - 1}`;
  }

  /** The bot's messages in order, with edits applied. */
  said(conversation?: string): SaidAtTeams[] {
    return this.saidSoFar.filter((one) => conversation === undefined || one.conversation === conversation);
  }

  /** Waits until `count` complete answers have arrived. */
  async untilSaid(count: number, conversation?: string, timeoutMs = 15_000): Promise<SaidAtTeams[]> {
    await eventually(() => {
      const { length } = completeAnswers(this.said(conversation));
      if (length < count) throw new Error(`${length} of ${count} messages were said`);
    }, timeoutMs);
    return this.said(conversation);
  }

  callsOf(method: TeamsMethod): TeamsCallSeen[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** What happens to the next call of this kind. */
  next(method: TeamsMethod, failure: TeamsFailure): void {
    this.failures.push({ method, failure });
  }

  async stop(): Promise<void> {
    await this.goAway();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const shared = this.atSharePoint[Number(/^\/sharepoint\/(\d+)$/.exec(path)?.[1])];
    if (shared !== undefined) {
      const isStranger = request.headers.authorization === undefined;
      response.writeHead(isStranger ? 200 : 403, { 'content-type': shared.type }).end(shared.data);
      return;
    }
    const bytes = await bytesOf(request);
    if (path.startsWith('/upload/')) this.noteUpload(path, request, bytes);
    const text = path.startsWith('/upload/') ? '' : bytes.toString('utf8');
    const form = request.headers['content-type']?.startsWith('application/x-www-form') === true;
    const body = form ? Object.fromEntries(new URLSearchParams(text)) : (JSON.parse(text || '{}') as Json);
    const method = methodOf(request.method ?? '', path, body);
    this.calls.push({ method, path, body });
    const place = this.failures.findIndex((one) => one.method === method);
    const failure = place < 0 ? this.out.get(method) : this.failures.splice(place, 1)[0]?.failure;
    if (typeof failure === 'function') {
      failure(response);
      return;
    }
    const { status, json } = this.answerOf(method, path, body, request.headers.authorization ?? '');
    if (failure === 'its answer hangs') return;
    if (failure === 'its answer is lost') response.destroy();
    else if (Buffer.isBuffer(json)) response.writeHead(status).end(json);
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  }

  private noteUpload(path: string, { headers }: IncomingMessage, data: Buffer): void {
    if (headers.authorization !== undefined) throw new Error('The address carries its permission.');
    this.uploads.push({ path, range: String(headers['content-range']), data });
  }

  private answerOf(method: TeamsMethod, path: string, body: Json, authorization: string): Answer {
    if (method === 'openid') return ok({ issuer: ISSUER, jwks_uri: `${this.url}/keys` });
    if (method === 'keys') return ok({ keys: this.keys.map(({ jwk }) => jwk) });
    if (method === 'token') return this.tokenFor(body);
    if (method === 'upload') return { status: 201, json: {} };
    if (!this.tokens.has(authorization.replace('Bearer ', ''))) {
      return { status: 401, json: { error: { code: 'Unauthorized', message: 'no' } } };
    }
    const [, conversation = '', id = ''] =
      /^\/emea\/v3\/conversations\/([^/]+)\/activities\/?(.*)$/.exec(path) ?? [];
    if (method === 'file') return ok(this.files.get(path.split('/')[4] ?? '') ?? Buffer.alloc(0));
    if (method === 'send') {
      this.sent += 1;
      const said = { id: `m${this.sent}`, conversation: decodeURIComponent(conversation) };
      const attachments = (body['attachments'] ?? []) as Json[];
      this.saidSoFar.push({ ...said, text: textIn(body), attachments });
      return { status: 201, json: { id: said.id } };
    }
    const place = this.saidSoFar.findIndex((one) => one.id === id);
    const said = this.saidSoFar[place];
    if (method === 'delete') this.saidSoFar.splice(place, place < 0 ? 0 : 1);
    if (method === 'edit' && said !== undefined) {
      const attachments = (body['attachments'] ?? []) as Json[];
      this.saidSoFar[place] = { ...said, text: textIn(body), attachments };
    }
    return ok({ id });
  }

  private tokenFor({
    client_id: app,
    client_secret: secret,
    scope,
    client_assertion: assertion,
  }: Json): Answer {
    const isKnown = secret === this.secret || assertion === 'an assertion of the cluster';
    if (app !== APP_ID || !isKnown || scope !== 'https://api.botframework.com/.default') {
      return { status: 401, json: { error: 'invalid_client' } };
    }
    const token = `canaryBotToken${this.tokens.size}.${crypto.randomUUID()}`;
    this.tokens.add(token);
    return ok({ token_type: 'Bearer', expires_in: 3600, access_token: token });
  }
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

function textIn({ text = '' }: Json): string {
  return String(text);
}

function ok(json: unknown): Answer {
  return { status: 200, json };
}

function methodOf(verb: string, path: string, body: Json): TeamsMethod {
  if (path === '/openid') return 'openid';
  if (path === '/keys') return 'keys';
  if (path.endsWith('/oauth2/v2.0/token')) return 'token';
  if (path.startsWith('/upload/')) return 'upload';
  if (verb === 'GET') return 'file';
  if (verb === 'PUT') return 'edit';
  if (verb === 'DELETE') return 'delete';
  return body['type'] === 'typing' ? 'typing' : 'send';
}

async function keyPair(kid: string, endorsements: readonly string[]) {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig', endorsements };
  return { privateKey, jwk };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A bot on loopback that lets everyone in. */
export function teamsEnv(
  teams: TestTeams,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return channelEnv('teams', {
    type: 'teams',
    app_id: APP_ID,
    tenant_id: TENANT,
    app_secret: APP_SECRET,
    login_url: teams.url,
    openid_url: `${teams.url}/openid`,
    issuer: ISSUER,
    allowed_users: '*',
    request_timeout_ms: '3000',
    ...more,
  });
}
