import { Injectable } from '@nestjs/common';
import { NotFound } from '../errors/gateway-error.js';
import type { Plugin } from './plugin.js';

class PluginNotFound extends NotFound {
  constructor() {
    super('There is no such plugin. GET /plugins lists those there are.');
  }
}

/** The plugins of this gateway. There is no host for them yet, so none is installed. */
@Injectable()
export class Plugins {
  private readonly plugins: ReadonlyMap<string, Plugin> = new Map();

  list(): readonly Plugin[] {
    return [...this.plugins.values()];
  }

  /** Throws `PluginNotFound`. */
  get(name: string): Plugin {
    const plugin = this.plugins.get(name);
    if (plugin === undefined) throw new PluginNotFound();
    return plugin;
  }
}
