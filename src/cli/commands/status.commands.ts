import type { Command } from 'commander';
import { type HealthPart, healthPart } from '../../areas/status/health-part.js';
import type { CommandContext, Terminal } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { paintWord } from '../paint.js';
import { RemoteFailure } from '../remote/gateway-client.js';
import { remoteTable, second } from '../remote/remote-text.js';
import { gatewayOf, namedGateway } from '../remote/with-gateway.js';
import { jsonText, printable } from '../terminal-text.js';

interface Part {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failing';
  readonly detail: string;
  readonly advice: string | null;
}

interface Overview {
  readonly health: {
    readonly status: string;
    readonly version: string;
    readonly uptime_secs: number;
    readonly parts: readonly Part[];
  };
  readonly now: Readonly<Record<string, number>>;
  readonly totals: { readonly turns: number; readonly failed: number; readonly cost_usd: number | null };
  readonly attention: readonly {
    readonly kind: string;
    readonly name: string;
    readonly text: string;
    readonly since: string | null;
  }[];
}

interface JsonOption {
  readonly json?: true;
}

const PATH = '/admin/v1/overview';
/** More than this between the clocks breaks signatures and leases. */
const MAX_SKEW_SECS = 5;

/** `status` and `doctor`: the state of a running gateway. */
export function addStatusCommands(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description('show what a running gateway does and what needs a person (--url)')
    .option('--json', 'print an object')
    .action(async (options: JsonOption) => {
      const overview = await gatewayOf(context).get<Overview>(PATH);
      context.terminal.out(options.json ? jsonText(overview) : statusText(overview, context.terminal));
    });
  program
    .command('doctor')
    .description(
      'check each part of a running gateway (--url), else what is seen from its own machine, and say what to do; fails when a part does',
    )
    .option('--json', 'print an object')
    .action(async (options: JsonOption) => {
      const parts = await checked(context);
      context.terminal.out(options.json ? jsonText({ parts }) : doctorText(parts, context.terminal));
      if (parts.some(({ status }) => status === 'failing')) throw new CommandFailed();
    });
}

/** Every part, beginning with those that this side can check. A part that cannot be checked counts as failed. */
async function checked(context: CommandContext): Promise<readonly Part[]> {
  const gateway = namedGateway(context);
  if (gateway === undefined) return seenHere(context);
  try {
    const clock = await gateway.clock();
    const { health } = await gateway.get<Overview>(PATH);
    return [clockPart(clock), ...health.parts];
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error;
    const connection = connectionPart(error);
    // The gateway would run on this machine, so its parts can be checked here.
    const isHere = isAboutTheMachine(error) && gateway.isOnThisMachine;
    return isHere ? [connection, ...(await seenHere(context))] : [connection];
  }
}

async function seenHere(context: CommandContext): Promise<readonly Part[]> {
  const { localParts } = await import('../local-health.js');
  return localParts(context);
}

function clockPart(clock: Date | undefined): Part {
  const skew = clock === undefined ? 0 : Math.round(Math.abs(clock.getTime() - Date.now()) / 1000);
  const detail = `this computer and the gateway differ by ${skew} s`;
  return skew <= MAX_SKEW_SECS
    ? { name: 'your clock', status: 'ok', detail, advice: null }
    : {
        ...{ name: 'your clock', status: 'warning', detail },
        advice: 'Let both follow a time server (NTP).',
      };
}

function doctorText(parts: readonly Part[], { isColored }: Terminal): string {
  const rows = parts.map(({ name, status, detail, advice }) => [
    name,
    status,
    advice === null ? detail : `${detail}. ${advice}`,
  ]);
  return remoteTable(['PART', 'STATE', 'WHAT'], rows, [2], isColored);
}

function statusText({ health, now, totals, attention }: Overview, { isColored = false }: Terminal): string {
  const hours = (health.uptime_secs / 3600).toFixed(1);
  const spent = totals.cost_usd === null ? 'unknown' : `${totals.cost_usd.toFixed(4)} USD`;
  const lines = [
    `${paintWord(health.status, isColored, printable(health.status))}, version ${printable(health.version)}, up for ${hours} h`,
    `sessions: ${now['sessions_active']} active, ${now['sessions_live']} live; turns: ${now['turns_running']} running, ${now['turns_waiting']} waiting`,
    `last 24 h: ${totals.turns} turns, ${totals.failed} failed, cost ${spent}`,
  ];
  if (attention.length === 0) return `${lines.join('\n')}\nNothing needs you.\n`;
  const rows = attention.map(({ kind, name, text, since }) => [kind, name, second(since), text]);
  return `${lines.join('\n')}\n\n${remoteTable(['NEEDS YOU', 'NAME', 'SINCE', 'WHY'], rows, [1, 3], isColored)}`;
}

const UNREACHABLE = 'Check --url, and whether the gateway runs there.';
/** What to do about a gateway that refuses the report, by the status of its answer. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'Check the token: it may have expired or been revoked ("agent-gateway auth token list" says).',
  403: 'Use a token with the scope status:read, such as one of the preset viewer, which is not bound to some agents.',
  404: 'Check --url: it is the address of a profile, such as http://127.0.0.1:3120; gateway.faces has to name "admin".',
  503: 'The gateway runs, but its database is away, busy, or has no connection left: look at PostgreSQL and DATABASE_URL, or run this on the machine of the gateway.',
};

/** The finding that a gateway does not report its state. */
function connectionPart({ status, message }: RemoteFailure): HealthPart {
  const advice =
    status === undefined
      ? UNREACHABLE
      : (ADVICE[status] ?? `It answered ${status}: look at the log of the gateway.`);
  return healthPart('connection', 'failing', message.replace(/\.$/, ''), advice);
}

/** Whether to check what a gateway on this machine depends on. */
function isAboutTheMachine({ status }: RemoteFailure): boolean {
  return status === undefined || status === 503;
}
