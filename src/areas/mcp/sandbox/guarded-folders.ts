import { basename, dirname, resolve } from 'node:path';
import { isWithin, resolvedPath } from './paths.js';

/** The gateway's own files and folders, which no tool server may see. */
export interface GatewayPaths {
  /** Its settings file, whether it exists or not. */
  readonly configFile: string;
  readonly dataFolder: string;
  /** Where the folders of users lie, if that is elsewhere. */
  readonly stateFolder?: string;
  /** The folder it was started in, which may hold a `.env`. */
  readonly workingFolder: string;
  /** The home of its user; empty without one. */
  readonly home: string;
}

/** Folders too broad to expose whole to a program that only runs in or names them. */
const WIDE = ['/', '/boot', '/etc', '/home', '/root', '/run', '/tmp', '/usr', '/var', '/var/lib', '/var/tmp'];
/** Folders of the kernel; the sandbox has its own. */
const MACHINE = ['/dev', '/proc', '/sys'];

/** Decides which files and folders stay out of every sandbox. All paths are real paths. */
export class GuardedFolders {
  /** The folders of the settings file: as configured, and where it really is. */
  private readonly settings: readonly string[];
  private readonly data: readonly string[];
  private readonly working: string;
  private readonly home: readonly string[];
  private readonly wide: ReadonlySet<string>;
  private readonly settingsNames: readonly string[];

  constructor(places: GatewayPaths) {
    const file = resolve(places.configFile);
    const realFile = resolvedPath(file)?.real ?? file;
    this.settings = [...new Set([realPath(dirname(file)), dirname(realFile)])];
    this.settingsNames = [...new Set([basename(file), basename(realFile)])];
    const { dataFolder, stateFolder = dataFolder } = places;
    this.data = [...new Set([realPath(dataFolder), realPath(stateFolder)])];
    this.working = realPath(places.workingFolder);
    this.home = places.home === '' ? [] : [realPath(places.home)];
    this.wide = new Set([...WIDE, ...MACHINE, ...this.home]);
  }

  /** Folders that have to be covered when a folder above them is shown. */
  get all(): readonly string[] {
    return [...new Set([...this.settings, ...this.data, this.working, ...this.home])].filter(
      (folder) => folder !== '/',
    );
  }

  /** Whether only the needed parts of this folder are shown, because it holds the settings or is far too wide. */
  isStrict(folder: string): boolean {
    return this.settings.includes(folder) || this.wide.has(folder);
  }

  isWide(folder: string): boolean {
    return this.wide.has(folder);
  }

  /** Whether this folder must never be shown as a whole. */
  isGuarded(folder: string): boolean {
    return this.working === folder || this.settings.includes(folder) || this.isOfData(folder);
  }

  /** Whether this path must never be shown: data, settings, environment files, the kernel's folders. */
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

  /** The settings file and its copies, such as `gateway.toml.bak` and `gateway.toml~`. */
  private isSettingsFile(path: string): boolean {
    const hasName = this.settingsNames.some((name) => basename(path).includes(name));
    return hasName && this.settings.includes(dirname(path));
  }
}

/** Whether the file is named like an environment file: `.env`, `.env.production`. */
export function isEnvironmentFile(path: string): boolean {
  return /^\.env($|\.)/.test(basename(path));
}

function isOfTheMachine(path: string): boolean {
  return MACHINE.some((folder) => isWithin(folder, path));
}

/** The real path; for a path that does not exist yet, below the real path of its folder. */
function realPath(path: string): string {
  const absolute = resolve(path);
  const { real } = resolvedPath(absolute) ?? {};
  if (real !== undefined || absolute === '/') return real ?? absolute;
  return resolve(realPath(dirname(absolute)), basename(absolute));
}
