import { Counter, Gauge, register } from 'prom-client';
import { JsonLogs } from '../logging/json-logs.js';
import { silentLogs } from '../logging/logger.js';
import { Redactor } from '../logging/redactor.js';
import { ScrapeService } from './scrape.service.js';

class Impatient extends ScrapeService {
  protected override readonly patienceMs = 50;
}

const turn = (): Promise<void> => new Promise(setImmediate);

test('who asks while a scrape is under way shares it, and finds what was counted before they asked', async () => {
  const asked = new Counter({ name: 'asked_total', help: 'For this test.' });
  const scrape = new ScrapeService(silentLogs);
  const ends: (() => void)[] = [];
  scrape.onScrape([], () => new Promise((resolve) => ends.push(resolve)));
  const rendered = jest.spyOn(register, 'metrics');
  const first = scrape.render();
  while (ends.length === 0) await turn();
  asked.inc(7);
  const later = Array.from({ length: 100 }, () => scrape.render());
  await turn();
  ends[0]?.();
  const texts = await Promise.all([first, ...later]);
  expect([ends.length, rendered.mock.calls.length, new Set(texts).size]).toEqual([1, 1, 1]);
  expect(texts[0]).toContain('asked_total 7');
});

test('what fails, or does not come in time, is left out until it is known again', async () => {
  const lines: string[] = [];
  const write = (line: string) => lines.push((JSON.parse(line) as { message: string }).message);
  const logs = new JsonLogs({ level: 'info', redactor: new Redactor(), write });
  const scrape = new Impatient(logs);
  const [plain, hangs] = ['plain', 'hangs'].map((name) => new Gauge({ name, help: 'For this test.' }));
  const labelled = new Gauge({ name: 'labelled', help: 'For this test.', labelNames: ['of'] });
  let isAway = true;
  let hanging = 0;
  let answer = (): void => undefined;
  scrape.onScrape([plain!, labelled], async () => {
    await turn();
    if (isAway) throw new Error('no database');
    plain!.set(3);
    labelled.set({ of: 'x' }, 4);
  });
  scrape.onScrape([hangs!], async () => {
    hanging += 1;
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    hangs!.set(5);
  });
  const samples = async () => (await scrape.render()).match(/^(?:plain|hangs|labelled).*$/gm);
  plain!.set(1);
  labelled.set({ of: 'y' }, 2);
  hangs!.set(3);
  expect([await samples(), await samples(), hanging]).toEqual([null, null, 1]);
  isAway = false;
  answer();
  await turn();
  const both = Promise.all([samples(), samples()]);
  while (hanging < 2) await turn();
  answer();
  const known = ['plain 3', 'hangs 5', 'labelled{of="x"} 4'];
  expect(await both).toEqual([expect.arrayContaining(known), expect.arrayContaining(known)]);
  expect(lines).toEqual([
    'some metrics cannot be read: scrapes leave them out',
    'all metrics can be read again',
  ]);
});
