import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parse } from 'yaml';
import { Environment } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings-loader.js';
import { type Manifest, manifestsIn, manifestsOf, schemaFaults, strangeKeys } from './manifests.js';

const ROOT = join(process.cwd(), 'docker', 'kubernetes');
const BASE = join(ROOT, 'base');
const EXAMPLE = join(ROOT, 'overlays', 'example');
const MONITORING = join(ROOT, 'components', 'monitoring');
const base = manifestsIn(BASE);
const monitoring = manifestsIn(MONITORING);

interface Kustomization {
  readonly resources: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly {
    readonly files: readonly string[];
    readonly options?: { readonly labels?: Readonly<Record<string, string>> };
  }[];
}
const kustomization = (folder: string) =>
  parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
const ofKind = (kind: string, among: readonly Manifest[] = base): Manifest => {
  const found = among.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`There is no ${kind}.`);
  return found;
};

interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly args?: readonly string[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
}
interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
}
const podSpec = (among?: readonly Manifest[]): PodSpec =>
  (ofKind('Deployment', among).spec as { template: { spec: PodSpec } }).template.spec;

test('every object of the base fits the schema of its kind', () => {
  expect(base.map(({ kind }) => kind).sort()).toEqual([
    'Deployment',
    'HorizontalPodAutoscaler',
    'Ingress',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
    'ServiceAccount',
  ]);
  expect(base.flatMap(schemaFaults)).toEqual([]);
  expect(monitoring.map(({ kind }) => kind).sort()).toEqual(['PrometheusRule', 'ServiceMonitor']);
  expect(monitoring.flatMap(schemaFaults)).toEqual([]);
});

test('no object of the base or the example has a key that its kind does not know', () => {
  const { patches = [], resources } = kustomization(EXAMPLE);
  const read = (path: string) => manifestsOf(readFileSync(join(EXAMPLE, path), 'utf8'));
  const own = resources.filter((path) => path.endsWith('.yaml')).flatMap(read);
  expect(strangeKeys([...base, ...monitoring, ...own])).toEqual([]);
  expect(own.flatMap(schemaFaults)).toEqual([]);
  expect(
    strangeKeys(
      patches.flatMap(({ path }) => read(path)),
      { isPatch: true },
    ),
  ).toEqual([]);
}, 60_000);

test('a key that is misspelt is found, however deep, and so is a wrong type', () => {
  const misspelt = structuredClone(ofKind('Deployment')) as unknown as {
    spec: { template: { spec: { containers: Record<string, unknown>[] } } };
  };
  misspelt.spec.template.spec.containers[0]!.readynessProbe = {};
  expect(strangeKeys([misspelt as unknown as Manifest]).join()).toMatch(/readynessProbe/);
  const wrong = structuredClone(ofKind('PodDisruptionBudget')) as unknown as {
    spec: Record<string, unknown>;
  };
  wrong.spec.selector = 'agent-gateway';
  expect(schemaFaults(wrong as unknown as Manifest)).toHaveLength(1);
}, 60_000);

test('the kustomizations name every file that lies beside them', () => {
  const besides = (folder: string) =>
    readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
  for (const folder of [BASE, EXAMPLE, MONITORING]) {
    const { resources, patches = [] } = kustomization(folder);
    const named = [...resources, ...patches.map(({ path }) => path)].filter((name) => name.endsWith('.yaml'));
    expect(named.sort()).toEqual(besides(folder).sort());
  }
});

test('pods keep to the restricted pod security standard', () => {
  const { containers, initContainers, securityContext } = podSpec();
  expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  for (const container of [...containers, ...initContainers]) {
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
});

test('ports, probes and time-outs are those of the gateway and its configuration', () => {
  const toml = readFileSync(join(BASE, 'gateway.toml'), 'utf8');
  const { settings } = loadSettings({
    environment: new Environment({
      GATEWAY_CONFIG: join(BASE, 'gateway.toml'),
      DATABASE_URL: 'postgres://x/y',
    }),
  });
  expect(parseToml(toml)).toHaveProperty('gateway.host', '0.0.0.0');
  const { containers, initContainers, terminationGracePeriodSeconds } = podSpec();
  const [gateway] = containers as [Container];
  expect(gateway.ports?.map(({ containerPort }) => containerPort)).toEqual([
    settings.gateway.port,
    settings.gateway.profile_a_port,
    settings.gateway.management_port,
  ]);
  expect(gateway.livenessProbe?.httpGet.path).toBe('/livez');
  expect(gateway.readinessProbe?.httpGet.path).toBe('/readyz');
  expect(initContainers[0]?.args).toContain('migrate');
  const drainSecs = (settings.gateway.drain_grace_ms + settings.gateway.drain_timeout_ms) / 1000;
  expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSecs + 25);
  const annotations = (ofKind('Ingress').metadata as { annotations: Record<string, string> }).annotations;
  const readTimeout = Number(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout']);
  expect(readTimeout).toBeGreaterThan(settings.agent.turn_timeout_ms / 1000);
  expect(annotations['nginx.ingress.kubernetes.io/proxy-body-size']).toBe(
    `${settings.gateway.max_message_body_bytes / 1024 ** 2}m`,
  );
});

test('the example includes the monitoring component, whose parts are where it says', () => {
  const { components = [] } = kustomization(EXAMPLE);
  expect(components.map((path) => join(EXAMPLE, path))).toEqual([MONITORING]);
  const grafana = kustomization(MONITORING).resources.find((path) => !path.endsWith('.yaml')) ?? '';
  const { configMapGenerator = [] } = kustomization(join(MONITORING, grafana));
  expect(configMapGenerator.map(({ options }) => options?.labels)).toEqual([{ grafana_dashboard: '1' }]);
  const files = configMapGenerator.flatMap(({ files }) => files);
  expect(files).toEqual(['dashboards/agent-gateway.json']);
  for (const file of files) expect(existsSync(join(MONITORING, grafana, file))).toBe(true);
});

test('the network policy has a way out to the database, its pooler, the collector and the names', () => {
  const { egress } = ofKind('NetworkPolicy').spec as { egress: { ports: { port: number }[] }[] };
  const ports = egress.flatMap(({ ports }) => ports.map(({ port }) => port));
  expect(ports).toEqual(expect.arrayContaining([53, 5432, 6432, 4317, 4318, 443]));
});

const kubectl = spawnSync('kubectl', ['kustomize', '--help']).status === 0;
(kubectl ? test : test.skip)(
  'kustomize builds the example, and what it builds fits the schemas',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'agw-kustomize-'));
    try {
      cpSync(join(process.cwd(), 'docker'), folder, { recursive: true });
      const example = join(folder, 'kubernetes', 'overlays', 'example');
      if (!existsSync(join(example, 'secrets.env')))
        cpSync(join(example, 'secrets.env.example'), join(example, 'secrets.env'));
      const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', example], { encoding: 'utf8' });
      expect([status, stderr]).toEqual([0, '']);
      const built = manifestsOf(stdout);
      expect(built.flatMap(schemaFaults)).toEqual([]);
      expect(strangeKeys(built)).toEqual([]);
      expect(podSpec(built).containers[0]).toMatchObject({
        image: 'registry.example.com/agent-gateway:0.1.0',
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  60_000,
);
