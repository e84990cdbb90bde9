import type { Plant } from './planted.ts'

/**
 * What is in sample-logs/small, in numbers: for tests of what reads it. A test of the generator
 * compares them with the files.
 */
export const SMALL_SAMPLE = {
  /** `npm run samples -- --days 28 --calls 4300 --end 2026-04-12T00:00:00Z --seed 1 --out …` */
  options: { days: 28, calls: 4_300, endMs: Date.UTC(2026, 3, 12), seed: 1 },
  files: 15,
  lines: 5_002,
  calls: 4_300,
  writers: 14,
  sessions: 983,
  byOutcome: { succeeded: 3_931, retried: 33, failed: 324, deferred: 12 },
  byClass: {
    timeout: 49,
    invalid_arguments: 116,
    rate_limited: 49,
    tool_error: 48,
    unexpected: 31,
    unknown_tool: 12,
    connection: 9,
    cancelled: 6,
    upstream: 2,
    bad_result: 1,
    crashed: 1,
  },
  byPlant: {
    nightly_window: 45,
    weekly_window: 4,
    wrong_name: 78,
    string_number: 38,
    hallucinated: 77,
    loop: 57,
    rate_limited: 49,
    rescued: 33,
    empty: 11,
    suspect: 7,
    tool_error: 20,
    cancelled: 6,
    unknown_tool: 12,
    deferred: 12,
    noise: 14,
    crash: 1,
    shutdown: 0,
  } satisfies Record<Plant, number>,
  /**
   * 27 nights have the window: on 29 March the clock goes from 02:00 to 03:00. Two calls fall in each.
   */
  nightly: {
    windows: 27,
    hit: 24,
    spared: ['2026-03-24', '2026-04-03', '2026-04-08'],
    calls: 54,
    failures: 45,
  },
  weekly: { windows: 4, hit: 4, calls: 4, failures: 4 },
  wrongName: { sessions: 64, corrected: 50 },
  stringNumber: { sessions: 38 },
  /** Failing calls that repeat; five of the loops end with the call succeeding. */
  loops: { loops: 11, calls: 57, recovered: 5 },
  rateLimitBursts: 7,
  silence: {
    server: 'docs-search',
    diedMs: Date.UTC(2026, 3, 2, 22, 50),
    backMs: Date.UTC(2026, 3, 3, 3, 50),
    /** In the last beat before, and nowhere else. */
    openCalls: ['d44a2aed8fcc-1', 'd44a2aed8fcc-2', 'd44a2aed8fcc-3'],
  },
  crash: { server: 'billing', atMs: Date.UTC(2026, 2, 23, 13, 20), call: '53af73ba4634-d1' },
  fatalStart: { server: 'billing', atMs: Date.UTC(2026, 2, 28, 9, 30, 4) },
  rotated: [
    'docs-search.20260403T035000Z.13016.3db4e623.1.jsonl',
    'docs-search.20260403T035000Z.13016.3db4e623.2.jsonl',
  ],
  /** The only numbers that no record has. */
  dropped: { writer: 'f7e410fc14d38c7b3f4ef450e38544eb', fromN: 258, toN: 263 },
  versionChanges: [
    { server: 'billing', from: '2.3.1', to: '2.4.0', atMs: Date.UTC(2026, 2, 28, 9, 30, 4) },
    { server: 'docs-search', from: '1.8.2', to: '1.9.0', atMs: Date.UTC(2026, 2, 29, 12, 10, 4) },
  ],
} as const
