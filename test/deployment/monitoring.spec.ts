import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startTestGateway } from '../harness/gateway.js';

const DOCKER = join(process.cwd(), 'docker');
const read = (...path: string[]): string => readFileSync(join(DOCKER, ...path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}
const rules = (parse(read('alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const dashboard = JSON.parse(read('grafana', 'dashboards', 'agent-gateway.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

/** Names of metrics in an expression, without what histograms add to theirs. */
const metricsIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(agent_gateway|nodejs|process)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );

test('alerts and panels ask for metrics that there are', async () => {
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
  // And the other way round: what we count ourselves is on the dashboard.
  const ours = [...there].filter((name) => name?.startsWith('agent_gateway_'));
  expect(ours.filter((name) => name !== undefined && !names.has(name))).toEqual([]);
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
