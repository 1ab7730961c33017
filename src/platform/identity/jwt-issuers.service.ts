import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../logging/logger.js';
import { Poller } from '../runtime/poller.js';
import type { JwtIssuerSettings } from '../settings/sections/auth.section.js';
import { Settings } from '../settings/settings.js';
import { SettingsChanges } from '../settings/settings-changes.js';
import { IssuerKeys } from './issuer-keys.js';
import { KeyFetcher } from './key-fetcher.js';

const POLL_MS = 5000;
const SECTIONS = ['auth.jwt', 'mcp.servers'];

/** The issuers of `[auth.jwt]` with their keys, according to the current settings. */
@Injectable()
export class JwtIssuers implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly onKeys: (() => void)[] = [];
  private readonly onSettings: (() => void)[] = [];
  private stopListening: () => void = () => undefined;
  private forTools: ReadonlySet<string> = new Set();
  private readonly known = new Map<string, { readonly text: string; readonly keys: IssuerKeys }>();
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.poll(),
    failed: (error) =>
      this.logger.warn('the issuers of JSON Web Tokens could not be checked; will retry', {
        error: String(error),
      }),
  });
  /** By issuer. */
  private current: ReadonlyMap<string, JwtIssuerSettings> = new Map();

  constructor(
    private readonly settings: Settings,
    private readonly changes: SettingsChanges,
    private readonly fetcher: KeyFetcher,
    logs: Logs,
  ) {
    this.logger = logs.for('identity');
  }

  /** A change is followed in the step that puts it in force: no request sees the new settings with the issuers before. */
  onApplicationBootstrap(): void {
    this.stopListening = this.changes.listen(SECTIONS, () => this.follow());
    this.follow();
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopListening();
    await this.poller.stop();
  }

  /** Called when keys were fetched: a signature that was refused may be valid now. */
  onKeysFetched(listener: () => void): void {
    this.onKeys.push(listener);
  }

  /** Called when an issuer, its roles or a tool server changed: earlier results may no longer hold. */
  onReconfigured(listener: () => void): void {
    this.onSettings.push(listener);
  }

  /** By the text of `iss`. The same map until the settings change. */
  all(): ReadonlyMap<string, JwtIssuerSettings> {
    return this.current;
  }

  /** Whether tool servers take people by tokens of this issuer, so that these are needed after the request. */
  areForTools({ issuer }: JwtIssuerSettings): boolean {
    return this.forTools.has(issuer);
  }

  keysOf({ issuer }: JwtIssuerSettings): IssuerKeys | undefined {
    return this.known.get(issuer)?.keys;
  }

  /** How old the keys of each issuer are, in milliseconds, by its name in the settings. */
  ages(): ReadonlyMap<string, number> {
    const { jwt } = this.settings.current.auth;
    return new Map(
      Object.entries(jwt).flatMap(([name, issuer]) => {
        const keys = this.keysOf(issuer);
        return keys === undefined ? [] : [[name, keys.ageMs] as const];
      }),
    );
  }

  private poll(): void {
    for (const { keys } of this.known.values()) void keys.refreshWhenDue();
  }

  private follow(): void {
    const { auth, mcp } = this.settings.current;
    const servers = Object.values(mcp.servers).filter(({ identity }) => identity === 'cross_app');
    this.forTools = new Set(servers.map(({ idp_issuer: issuer }) => issuer));
    this.current = new Map(Object.values(auth.jwt).map((issuer) => [issuer.issuer, issuer]));
    for (const issuer of this.known.keys()) if (!this.current.has(issuer)) this.known.delete(issuer);
    for (const [name, issuer] of Object.entries(auth.jwt)) this.followOne(name, issuer);
    for (const listener of this.onSettings) listener();
  }

  /** An issuer whose keys now come from another place starts without the keys that were fetched before. */
  private followOne(name: string, issuer: JwtIssuerSettings): void {
    const text = JSON.stringify([issuer.jwks_url, issuer.ca_file, issuer.jwks_token_file]);
    if (this.known.get(issuer.issuer)?.text === text) return;
    const keys = new IssuerKeys({
      fetch: () => this.fetcher.fetch(name, issuer),
      logger: this.logger,
      issuer: issuer.issuer,
    });
    keys.onFetched(() => {
      for (const listener of this.onKeys) listener();
    });
    this.known.set(issuer.issuer, { text, keys });
    void keys.refreshWhenDue();
  }
}
