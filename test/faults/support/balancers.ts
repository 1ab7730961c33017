import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../harness/free-port.js';
import { until } from '../../harness/gateway-process.js';

/** The address of one replica. */
export interface Upstream {
  readonly port: number;
  readonly operationsPort: number;
}

export interface Balancer {
  readonly name: string;
  /** Base URL of the balanced profile. */
  readonly base: string;
  /** Whether it reports that it sends requests to all replicas. */
  seesAll(): Promise<boolean>;
  stop(): void;
}

export interface NginxOptions {
  /** A path that answers 200 without a token. */
  readonly health?: string;
  /** Additional directives for the whole server, and for the one location. */
  readonly global?: string;
  readonly more?: string;
}

/** An ordinary nginx, which has no health checks: it notices a stop when it is refused. */
export async function startNginx(
  folder: string,
  upstreams: readonly Upstream[],
  { health = '/api/v1/status/health', global = '', more = '' }: NginxOptions = {},
): Promise<Balancer> {
  const port = await freePort();
  const place = await mkdtemp(join(folder, 'nginx-'));
  const file = join(place, 'nginx.conf');
  const asRoot = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(place, kind)};`,
  );
  const servers = upstreams.map((one) => `server 127.0.0.1:${one.port} max_fails=1 fail_timeout=1s;`);
  await writeFile(
    file,
    `daemon off; ${asRoot} pid ${join(place, 'pid')}; error_log ${join(place, 'error.log')};
     events { worker_connections 512; }
     http {
       ${global} ${temporary.join(' ')}
       upstream gateway { ${servers.join(' ')} keepalive 16; }
       access_log off;
       server {
         listen 127.0.0.1:${port};
         location / {
           proxy_pass http://gateway;
           proxy_http_version 1.1;
           proxy_set_header Connection "";
           proxy_buffering off;
           proxy_read_timeout 1000s;
           ${more}
         }
       }
     }`,
  );
  const child = spawn('nginx', ['-c', file, '-p', place], { stdio: 'ignore' });
  return running({ name: 'nginx', port, health, child, seesAll: () => Promise.resolve(true) });
}

const STATS = '/what-haproxy-sees';

/** An HAProxy that requests `/readyz` five times a second, and waits two seconds before it counts as failed. */
export async function startHaproxy(folder: string, upstreams: readonly Upstream[]): Promise<Balancer> {
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  const servers = upstreams.map(
    (one, i) =>
      `  server g${i} 127.0.0.1:${one.port} check port ${one.operationsPort} inter 200ms fall 1 rise 1`,
  );
  await writeFile(
    file,
    `global
  maxconn 500
defaults
  mode http
  timeout connect 2s
  timeout check 2s
  timeout client 1000s
  timeout server 1000s
  option redispatch
frontend all
  bind 127.0.0.1:${port}
  stats enable
  stats uri ${STATS}
  default_backend gateway
backend gateway
  option httpchk GET /readyz
${servers.join('\n')}
`,
  );
  return running({
    name: 'haproxy',
    port,
    health: '/api/v1/status/health',
    child: spawn('haproxy', ['-f', file, '-db'], { stdio: 'ignore' }),
    seesAll: async () => (await serversUp(port)) === upstreams.length,
  });
}

async function serversUp(port: number): Promise<number> {
  const table = await (await fetch(`http://127.0.0.1:${port}${STATS};csv`)).text();
  return table.split('\n').filter((line) => /^gateway,g\d+,/.test(line) && line.includes(',UP,')).length;
}

export function isInstalled(binary: string): boolean {
  return spawnSync(binary, ['-v'], { stdio: 'ignore' }).error === undefined;
}

interface Started extends Pick<Balancer, 'name' | 'seesAll'> {
  readonly port: number;
  readonly health: string;
  readonly child: ChildProcess;
}

async function running({ name, port, health, child, seesAll }: Started): Promise<Balancer> {
  const origin = `http://127.0.0.1:${port}`;
  await until(
    () =>
      fetch(`${origin}${health}`).then(
        (answer) => answer.ok,
        () => false,
      ),
    10_000,
  );
  return { name, base: `${origin}/api/v1`, seesAll, stop: () => void child.kill('SIGTERM') };
}
