import { basename, dirname, resolve } from 'node:path';
import { isWithin, resolvedPath } from './resolved-path.js';

/** Where the gateway keeps what no tool server may see. */
export interface GatewayPaths {
  /** The file of its settings, whether it exists or not. */
  readonly configFile: string;
  readonly dataFolder: string;
  /** The folder it was started in, where a `.env` lies if there is one. */
  readonly workingFolder: string;
  /** The home of its user; empty when it has none. */
  readonly home: string;
}

/** Too much for anybody who merely runs there or names it: of these only what is needed is shown. */
const WIDE = ['/', '/boot', '/etc', '/home', '/root', '/run', '/tmp', '/usr', '/var', '/var/lib', '/var/tmp'];
/** The machine itself; the sandbox has its own. */
const MACHINE = ['/dev', '/proc', '/sys'];

/** Knows the folders and files of the gateway that stay out of every sandbox, by their real paths. */
export class GuardedFolders {
  /** The folders that hold the settings: named, and where the file really is. */
  private readonly settings: readonly string[];
  private readonly data: readonly string[];
  private readonly working: string;
  private readonly wide: ReadonlySet<string>;
  private readonly settingsNames: readonly string[];

  constructor(places: GatewayPaths) {
    const file = resolve(places.configFile);
    const realFile = resolvedPath(file)?.real ?? file;
    this.settings = [...new Set([realPath(dirname(file)), dirname(realFile)])];
    this.settingsNames = [...new Set([basename(file), basename(realFile)])];
    this.data = [realPath(places.dataFolder)];
    this.working = realPath(places.workingFolder);
    const home = places.home === '' ? [] : [realPath(places.home)];
    this.wide = new Set([...WIDE, ...MACHINE, ...home]);
  }

  /** What has to be covered where something above it is shown. */
  get all(): readonly string[] {
    return [...new Set([...this.settings, ...this.data, this.working])].filter((folder) => folder !== '/');
  }

  /** Whether nothing of this folder is shown but what is needed: it holds settings, or far more than one program's things. */
  isStrict(folder: string): boolean {
    return this.settings.includes(folder) || this.wide.has(folder);
  }

  isWide(folder: string): boolean {
    return this.wide.has(folder);
  }

  /** Whether this very folder must never be shown as a whole. */
  isGuarded(folder: string): boolean {
    return this.working === folder || this.settings.includes(folder) || this.isOfData(folder);
  }

  /** Whether this path must not be shown, whoever names it: data, settings, environment files, the machine itself. */
  isSecret(path: string): boolean {
    return (
      this.isOfData(path) || isEnvironmentFile(path) || this.isSettingsFile(path) || isOfTheMachine(path)
    );
  }

  /** Whether this path may be shown as a whole. */
  maySee(path: string): boolean {
    return !this.isGuarded(path) && !this.isSecret(path);
  }

  private isOfData(path: string): boolean {
    return this.data.some((folder) => isWithin(folder, path));
  }

  /** The file itself, and what editors and people put beside it: `gateway.toml.bak`, `gateway.toml~`. */
  private isSettingsFile(path: string): boolean {
    const isNamedSo = this.settingsNames.some((name) => basename(path).includes(name));
    return isNamedSo && this.settings.includes(dirname(path));
  }
}

/** Whether a file's name says that it holds variables of an environment: `.env`, `.env.production`. */
export function isEnvironmentFile(path: string): boolean {
  return /^\.env($|\.)/.test(basename(path));
}

function isOfTheMachine(path: string): boolean {
  return MACHINE.some((folder) => isWithin(folder, path));
}

/** The real path; of what does not exist yet, its folder's. */
function realPath(path: string): string {
  const absolute = resolve(path);
  const { real } = resolvedPath(absolute) ?? {};
  if (real !== undefined || absolute === '/') return real ?? absolute;
  return resolve(realPath(dirname(absolute)), basename(absolute));
}
