import type { ReactNode } from 'react';

const PATHS = {
  overview: 'M3 13h6V3H3zM11 17h6V9h-6zM3 17h6v-2H3zM11 7h6V3h-6z',
  sessions: 'M3 4h14v10H8l-4 3v-3H3z',
  approvals: 'M10 2l6 2.5V9c0 4-2.6 7-6 8.5C6.600 16 4 13 4 9V4.500zM7.500 10l2 2 3.500-4',
  agents: 'M4 7h12v9H4zM10 7V3M8 3h4M7.500 11v1M12.500 11v1M2 10v3M18 10v3',
  usage: 'M3 17h14M5 17v-5M9 17V8M13 17v-7M17 17V4',
  logs: 'M4 4h12M4 8h12M4 12h8M4 16h10',
  audit: 'M5 2h7l4 4v12H5zM12 2v4h4M8 10h5M8 13h5',
  channels: 'M3 10a7 7 0 0 1 14 0M6 10a4 4 0 0 1 8 0M10 10v7M8 17h4',
  hooks: 'M7 4a3 3 0 1 1 3 4l-3 5M13 16a3 3 0 1 0 0-6h-1M4 11a3 3 0 1 0 3 4h6',
  servers: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.500h.01M6 13.500h.01',
  plugins: 'M7 3v4M13 3v4M5 7h10v3a5 5 0 0 1-10 0zM10 15v3',
  skills: 'M3 4h6a1 1 0 0 1 1 1v12a2 2 0 0 0-2-2H3zM17 4h-6a1 1 0 0 0-1 1v12a2 2 0 0 1 2-2h5z',
  config: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  tokens: 'M8 12a4 4 0 1 1 3-1.300L17 17v-3h-2v-2h-2',
  menu: 'M3 5h14M3 10h14M3 15h14',
  close: 'M5 5l10 10M15 5L5 15',
  send: 'M3 10l14-7-5 14-3-6z',
  stop: 'M5 5h10v10H5z',
  tool: 'M12 4a4 4 0 0 1 4 5l-7 7-3-3 7-7z',
  next: 'M8 5l5 5-5 5',
  signOut: 'M8 4H4v12h4M12 7l3 3-3 3M15 10H7',
} as const;

export type IconName = keyof typeof PATHS;

/** The text beside it says the same, so it is hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo(): ReactNode {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M9 22V12a7 7 0 0 1 14 0v10M9 17h14" />
      <circle cx="16" cy="22" r="2" />
    </svg>
  );
}
