import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { until } from '../../harness/gateway-process.js';

/** Where one replica answers. */
export interface Upstream {
  readonly port: number;
  readonly operationsPort: number;
}

export interface Balancer {
  readonly name: string;
  /** Base of the profile that is balanced. */
  readonly base: string;
  stop(): void;
}

/** An ordinary nginx: it has no health checks, and finds out by being refused. */
export async function startNginx(folder: string, upstreams: readonly Upstream[]): Promise<Balancer> {
  const port = await freePort();
  const place = join(folder, 'nginx');
  await mkdir(place);
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
       access_log off; ${temporary.join(' ')}
       upstream gateway { ${servers.join(' ')} keepalive 16; }
       server {
         listen 127.0.0.1:${port};
         location / {
           proxy_pass http://gateway;
           proxy_http_version 1.1;
           proxy_set_header Connection "";
           proxy_buffering off;
           proxy_read_timeout 1000s;
         }
       }
     }`,
  );
  return running('nginx', port, spawn('nginx', ['-c', file, '-p', place], { stdio: 'ignore' }));
}

/** HAProxy asks `/readyz` five times a second. */
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
  timeout client 1000s
  timeout server 1000s
  option redispatch
frontend all
  bind 127.0.0.1:${port}
  default_backend gateway
backend gateway
  option httpchk GET /readyz
${servers.join('\n')}
`,
  );
  return running('haproxy', port, spawn('haproxy', ['-f', file, '-db'], { stdio: 'ignore' }));
}

export function isInstalled(binary: string): boolean {
  return spawnSync(binary, ['-v'], { stdio: 'ignore' }).error === undefined;
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const holder = createServer().listen(0, '127.0.0.1', () => {
      const address = holder.address();
      holder.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function running(name: string, port: number, child: ChildProcess): Promise<Balancer> {
  const origin = `http://127.0.0.1:${port}`;
  await until(
    () =>
      fetch(`${origin}/api/v1/status/health`).then(
        (answer) => answer.ok,
        () => false,
      ),
    10_000,
  );
  return { name, base: `${origin}/api/v1`, stop: () => void child.kill('SIGTERM') };
}
