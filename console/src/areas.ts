import type { IconName } from './ui/icons';

/** A part of the console with an entry in its navigation. */
export interface Area {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** The scope that the token needs; without it the entry is not offered. */
  readonly scope: string;
  readonly whose: 'own' | 'everyone';
}

interface Group {
  readonly title: string;
  readonly areas: readonly Area[];
}

const everyone = { whose: 'everyone' } as const;
const own = { whose: 'own' } as const;

export const GROUPS: readonly Group[] = [
  {
    title: 'Operate',
    areas: [
      { path: '/', title: 'Overview', icon: 'overview', scope: 'status:read', ...everyone },
      { path: '/sessions', title: 'Sessions', icon: 'sessions', scope: 'sessions:read', ...own },
      { path: '/approvals', title: 'Approvals', icon: 'approvals', scope: 'approvals:read', ...own },
      { path: '/logs', title: 'Logs', icon: 'logs', scope: 'logs:read', ...everyone },
    ],
  },
  {
    title: 'Insight',
    areas: [
      { path: '/agents', title: 'Agents', icon: 'agents', scope: 'agents:read', ...everyone },
      { path: '/usage', title: 'Usage', icon: 'usage', scope: 'usage:read', ...own },
      { path: '/audit', title: 'Audit', icon: 'audit', scope: 'audit:read', ...everyone },
    ],
  },
  {
    title: 'Connections',
    areas: [
      { path: '/channels', title: 'Channels', icon: 'channels', scope: 'channels:read', ...everyone },
      { path: '/hooks', title: 'Webhooks', icon: 'hooks', scope: 'hooks:read', ...everyone },
      { path: '/servers', title: 'Tool servers', icon: 'servers', scope: 'mcp:read', ...everyone },
      { path: '/plugins', title: 'Plugins', icon: 'plugins', scope: 'plugins:read', ...everyone },
      { path: '/skills', title: 'Skills', icon: 'skills', scope: 'skills:read', ...everyone },
    ],
  },
  {
    title: 'Settings',
    areas: [
      { path: '/config', title: 'Configuration', icon: 'config', scope: 'config:read', ...everyone },
      { path: '/tokens', title: 'Tokens', icon: 'tokens', scope: 'tokens:read', ...everyone },
    ],
  },
];

export const AREAS: readonly Area[] = GROUPS.flatMap(({ areas }) => areas);
