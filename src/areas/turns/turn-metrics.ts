import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  InjectMetric,
  makeCounterProvider,
  makeGaugeProvider,
  makeHistogramProvider,
} from '@willsoto/nestjs-prometheus';
import type { Counter, Gauge, Histogram } from 'prom-client';
import { childrenOf } from '../../platform/metrics/labelled.js';
import { ScrapeService } from '../../platform/metrics/scrape.service.js';
import { RunningTurns } from './running-turns.js';
import type { TurnFailure } from './turn-lease.js';

const TURNS = 'agent_gateway_turns_total';
const DURATION = 'agent_gateway_turn_duration_seconds';
const FIRST_TOKEN = 'agent_gateway_turn_first_token_seconds';
const TAKEN_UP = 'agent_gateway_turns_taken_up_total';
const RUNNING = 'agent_gateway_turns_running';

export const turnMetricProviders = [
  makeCounterProvider({ name: TURNS, help: 'Turns by outcome.', labelNames: ['outcome'] }),
  makeHistogramProvider({
    name: DURATION,
    help: 'Duration of turns, without waiting for the session.',
    labelNames: ['outcome'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900],
  }),
  makeHistogramProvider({
    name: FIRST_TOKEN,
    help: 'Time from the start of a turn to the first text of its answer.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
  makeCounterProvider({
    name: TAKEN_UP,
    help: 'Turns that went on here after their replica died or stopped.',
  }),
  makeGaugeProvider({ name: RUNNING, help: 'Turns that run in this process.' }),
];

/** Times one turn. */
export interface TurnTimer {
  /** The first text of the answer was sent; only the first call counts. */
  readonly sawText: () => void;
  /** @returns how many milliseconds it took */
  readonly ended: (outcome: 'completed' | 'handed_over' | 'parked' | TurnFailure) => number;
}

/** Counts and times turns where they run. */
@Injectable()
export class TurnMetrics implements OnModuleInit {
  private readonly turnsOf: (outcome: string) => Counter.Internal;
  private readonly durationOf: (outcome: string) => Histogram.Internal<'outcome'>;

  constructor(
    @InjectMetric(TURNS) turns: Counter<'outcome'>,
    @InjectMetric(DURATION) duration: Histogram<'outcome'>,
    @InjectMetric(FIRST_TOKEN) private readonly firstToken: Histogram,
    @InjectMetric(TAKEN_UP) private readonly takenUpTurns: Counter,
    @InjectMetric(RUNNING) private readonly runningNow: Gauge,
    private readonly running: RunningTurns,
    private readonly scrape: ScrapeService,
  ) {
    this.turnsOf = childrenOf(turns);
    this.durationOf = childrenOf(duration);
  }

  onModuleInit(): void {
    this.scrape.beforeScrape(() => this.runningNow.set(this.running.count));
  }

  /** Counts turns whose replica is gone where they are closed; nobody knows how long they ran. */
  lost(turns: number): void {
    if (turns > 0) this.turnsOf('interrupted').inc(turns);
  }

  /** A turn of another replica continues here. */
  takenUp(): void {
    this.takenUpTurns.inc();
  }

  start(): TurnTimer {
    const began = performance.now();
    const passedSecs = () => (performance.now() - began) / 1000;
    let isSilent = true;
    return {
      sawText: () => {
        if (isSilent) this.firstToken.observe(passedSecs());
        isSilent = false;
      },
      ended: (outcome) => {
        const secs = passedSecs();
        this.turnsOf(outcome).inc();
        this.durationOf(outcome).observe(secs);
        return secs * 1000;
      },
    };
  }
}
