import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { register } from 'prom-client';
import { parse, stringify } from 'yaml';
import { startTestGateway } from '../harness/gateway.js';

const DOCKER = join(process.cwd(), 'docker');
const read = (...path: string[]): string => readFileSync(join(DOCKER, ...path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string; readonly summary?: string };
}
const rules = (parse(read('alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const dashboard = JSON.parse(read('grafana', 'dashboards', 'agent-gateway.json')) as {
  panels: { title: string; targets: { expr: string; legendFormat?: string }[] }[];
};

/** Names of metrics in an expression, without the suffixes of histograms. */
const metricsIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(agent_gateway|nodejs|process)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );

test('alerts and panels ask for metrics that exist', async () => {
  const gateway = await startTestGateway();
  const { text } = await gateway.operations.get<string>('/metrics');
  await gateway.stop();
  const there = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const asked = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const names = new Set(asked.flatMap(metricsIn));
  expect(names.size).toBeGreaterThan(15);
  expect([...names].filter((name) => !there.has(name))).toEqual([]);
  // Conversely: every metric of the gateway is on the dashboard.
  const ours = [...there].filter((name) => name?.startsWith('agent_gateway_'));
  expect(ours.filter((name) => name !== undefined && !names.has(name))).toEqual([]);
});

/** Added by Prometheus, and by histograms. */
const LABELS_OF_OTHERS = new Set(['instance', 'job', 'le', 'namespace', 'pod']);

test('alerts and panels ask for labels that their metrics have', async () => {
  const gateway = await startTestGateway();
  const labels = new Map(
    register.getMetricsAsArray().map((metric) => {
      const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: readonly string[] };
      return [name, new Set(labelNames)];
    }),
  );
  await gateway.stop();
  const strange = ({ expr, legend = '' }: { expr: string; legend?: string }): string[] => {
    const known = metricsIn(expr).map((name) => labels.get(name) ?? new Set());
    const grouped = [...expr.matchAll(/\b(?:by|on|without) ?\(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(','),
    );
    const selected = [...expr.matchAll(/[{,] *([a-z_]+) *[!=]/g)].map(([, label = '']) => label);
    const drawn = [...legend.matchAll(/\{\{ *(?:\$labels\.)?([a-z_]+) *\}\}/g)].map(
      ([, label = '']) => label,
    );
    const asked = [...grouped, ...selected, ...drawn].map((label) => label.trim()).filter(Boolean);
    return asked.filter((label) => !LABELS_OF_OTHERS.has(label) && !known.some((own) => own.has(label)));
  };
  const panels = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat: legend = '' }) => ({ what: title, expr, legend })),
  );
  const alerts = rules.map(({ alert, expr, annotations }) => ({
    what: alert,
    expr,
    legend: annotations.summary ?? '',
  }));
  expect(panels.length + alerts.length).toBeGreaterThan(30);
  expect(
    [...panels, ...alerts].flatMap((asked) => strange(asked).map((label) => [asked.what, label])),
  ).toEqual([]);
});

/** Compares a generated file, or writes it again with `npm run generate:monitoring`. */
function expectGenerated(path: string, text: string): void {
  const file = join(process.cwd(), path);
  if (process.env['UPDATE_MONITORING'] === '1') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
}

interface MetricFacts {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

test('docs/metrics.md lists every metric with its kind, its labels and its meaning', async () => {
  const gateway = await startTestGateway();
  const facts = (register.getMetricsAsArray() as unknown as MetricFacts[])
    .map(({ name, type, help, labelNames = [] }) => ({ name, type, help, labels: [...labelNames] }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const { text } = await gateway.operations.get<string>('/metrics');
  await gateway.stop();
  const served = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  expect(facts.map(({ name }) => name).filter((name) => !served.has(name))).toEqual([]);
  const rows = (ours: boolean): string =>
    facts
      .filter(({ name }) => name.startsWith('agent_gateway_') === ours)
      .map(({ name, type, labels, help }) => {
        const names = labels.map((label) => `\`${label}\``).join(', ');
        return `| \`${name}\` | ${type} | ${names} | ${help.replaceAll('|', '\\|')} |`;
      })
      .join('\n');
  const head = '| Name | Kind | Labels | Meaning |\n|---|---|---|---|\n';
  expectGenerated(
    'docs/metrics.md',
    `# Metrics

<!-- Generated by \`npm run generate:monitoring\`. -->

What \`/metrics\` returns on the operations port, and \`GET /metrics\` in Profile A with the scope \`metrics:read\`. Histograms add
\`_bucket\`, \`_sum\` and \`_count\` to their name. Alerts and their runbooks: [operations.md](operations.md#alerts); the dashboard:
\`docker/grafana/dashboards/agent-gateway.json\`.

## Metrics of the gateway

${head}${rows(true)}

## Metrics of its process

${head}${rows(false)}
`,
  );
});

test('the PrometheusRule of the monitoring component says what docker/alerts.yml says', () => {
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'agent-gateway' },
    spec: parse(read('alerts.yml')) as object,
  };
  expectGenerated(
    'docker/kubernetes/components/monitoring/prometheusrule.yaml',
    `# Generated from docker/alerts.yml by "npm run generate:monitoring".\n${stringify(rule, { lineWidth: 0 })}`,
  );
});

test('Compose asks for every password instead of taking an empty one', () => {
  const variables = [...read('compose.yaml').matchAll(/\$\{([A-Z_]*PASSWORD)([^}]*)\}/g)];
  expect(variables.length).toBeGreaterThanOrEqual(3);
  expect(variables.filter(([, , rest = '']) => !rest.startsWith(':?')).map(([, name]) => name)).toEqual([]);
});

test('every alert has its runbook in the operations guide', () => {
  const guide = readFileSync(join(process.cwd(), 'docs', 'operations.md'), 'utf8');
  const headings = new Set([...guide.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading));
  for (const { alert, annotations } of rules) {
    expect(headings).toContain(alert);
    expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
  }
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
(promtool ? test : test.skip)('promtool accepts the rules and the configuration', () => {
  for (const command of [
    ['check', 'rules', 'docker/alerts.yml'],
    ['check', 'config', 'docker/prometheus.yml'],
  ]) {
    const { status, stderr } = spawnSync('promtool', command, { encoding: 'utf8' });
    expect([command, status, stderr]).toEqual([command, 0, '']);
  }
});
