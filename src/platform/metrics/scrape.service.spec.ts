import { Counter, register } from 'prom-client';
import { ScrapeService } from './scrape.service.js';

const turn = (): Promise<void> => new Promise(setImmediate);

test('who asks while a scrape is under way shares it, and finds what was counted before they asked', async () => {
  const asked = new Counter({ name: 'asked_total', help: 'For this test.' });
  const scrape = new ScrapeService();
  const ends: (() => void)[] = [];
  scrape.onScrape(() => new Promise((resolve) => ends.push(resolve)));
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

test('a scrape that fails fails for those who share it, and not for those who ask later', async () => {
  const scrape = new ScrapeService();
  let refreshes = 0;
  scrape.onScrape(async () => {
    refreshes += 1;
    const isFirst = refreshes === 1;
    await turn();
    if (isFirst) throw new Error('no database');
  });
  const both = await Promise.allSettled([scrape.render(), scrape.render()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(scrape.render()).resolves.toEqual(expect.any(String));
});
