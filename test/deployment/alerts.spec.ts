import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { RouteTable } from '../../src/http/route-table.js';
import { startTestGateway } from '../harness/gateway.js';

const PLAYED = 'test/deployment/alerts.test.yml';

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
interface Played {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}
const rules = (
  parse(readFileSync('docker/alerts.yml', 'utf8')) as { groups: { rules: Rule[] }[] }
).groups.flatMap(({ rules }) => rules);

const promtool = spawnSync('promtool', ['--version']).status === 0;
(promtool ? test : test.skip)('each alert fires when it should, and not before, as promtool plays it', () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', PLAYED], { encoding: 'utf8' });
  expect([status, stderr, stdout]).toEqual([0, '', expect.stringContaining('SUCCESS')]);
});

test('every alert is played until it fires, and once while it keeps still', () => {
  const played = (parse(readFileSync(PLAYED, 'utf8')) as Played).tests.flatMap((one) => one.alert_rule_test);
  const named = (isFiring: boolean): string[] => [
    ...new Set(
      played.filter(({ exp_alerts }) => exp_alerts.length > 0 === isFiring).map(({ alertname }) => alertname),
    ),
  ];
  const all = rules.map(({ alert }) => alert).sort();
  expect(named(true).sort()).toEqual(all);
  expect(named(false).sort()).toEqual(all);
});

/** Requests that wait for a model, or stay open as a stream: they may take any time. */
const WAITING = [
  '/a2a',
  '/admin/v1/agents/check',
  '/api/v1/logs',
  '/api/v1/logs/stream',
  '/api/v1/sessions/:id/messages',
  '/inbound/:channel',
  '/inbound/:channel/messages',
  '/mcp',
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/responses/:id',
];

test('AgentGatewaySlow passes over routes that wait for a model or stay open, under the names that metrics give them, and over no other', async () => {
  const slow = rules.find(({ alert }) => alert === 'AgentGatewaySlow')?.expr ?? '';
  const passedOver = new RegExp(`^(?:${/path!~"([^"]+)"/.exec(slow)?.[1]})$`);
  const gateway = await startTestGateway();
  const routes = gateway.started.app.get(RouteTable, { strict: false }).all();
  const waiting = routes.filter(({ path, listener }) => listener !== 'operations' && passedOver.test(path));
  for (const { method, path, listener } of waiting)
    await (await fetch(`http://127.0.0.1:${gateway.started.ports[listener]}${path}`, { method })).text();
  const { text } = await gateway.operations.get<string>('/metrics');
  await gateway.stop();
  expect([...new Set(waiting.map(({ path }) => path))].sort()).toEqual(WAITING);
  const counted = [...text.matchAll(/^agent_gateway_requests_total\{method="\w+",path="([^"]+)"\}/gm)];
  expect([...new Set(counted.map(([, path]) => path))].sort()).toEqual(expect.arrayContaining(WAITING));
});
