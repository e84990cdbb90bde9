import type { ErrorClass } from '../server/call-log/record.ts'

/**
 * What is planted in the samples, as data: tests of other stages compare what they find with this.
 * README.md says the same in words.
 */

export type PlantedWindow = {
  server: string
  tool: string
  class: ErrorClass
  code: string
  frame: 'day' | 'week'
  zone: string
  /** ISO weekday of a weekly window. */
  weekday?: number
  fromMinute: number
  /** Exclusive. */
  toMinute: number
}

/**
 * An upstream that is maintained by its own wall clock: on the night when clocks skip 02:00 there is
 * no window, and on the night that has 02:00 twice there are two.
 */
export const NIGHTLY_WINDOW = {
  server: 'billing',
  tool: 'get_exchange_rate',
  class: 'timeout',
  code: 'UND_ERR_HEADERS_TIMEOUT',
  frame: 'day',
  zone: 'Europe/Berlin',
  fromMinute: 120,
  toMinute: 140,
} as const satisfies PlantedWindow

/** Of all nights that have the window; the rest is drawn by the seed. */
export const NIGHTLY_HIT_SHARE = 0.88

export const WEEKLY_WINDOW = {
  server: 'docs-search',
  tool: 'reindex_collection',
  class: 'connection',
  code: 'ECONNREFUSED',
  frame: 'week',
  zone: 'UTC',
  weekday: 7,
  fromMinute: 240,
  toMinute: 300,
} as const satisfies PlantedWindow

/** Callers send `sent`; the parameter is called `wanted`, and is required. */
export const WRONG_NAME = {
  server: 'docs-search',
  tool: 'search_documents',
  sent: 'pattern',
  wanted: 'query',
  expected: 'string',
  /** Of the sessions that send it, how many never find the right name. */
  neverCorrectedShare: 0.25,
} as const

/** One client sends the integer as text. */
export const STRING_NUMBER = {
  server: 'billing',
  tool: 'list_invoices',
  path: 'limit',
  value: '10',
  expected: 'integer from 1 to 100',
  client: 'cursor',
} as const

/** An optional parameter that does not exist: dropped, and the call succeeds. */
export const HALLUCINATED = {
  server: 'docs-search',
  tool: 'get_document',
  key: 'format',
  value: 'markdown',
} as const

export const RATE_LIMITED = {
  server: 'billing',
  tool: 'export_statement',
  class: 'rate_limited',
  status: 429,
  retryAfterS: 30,
} as const

/** Rule ids of `result.suspect` that occur. */
export const SUSPECT = {
  server: 'docs-search',
  tool: 'summarize_document',
  rule: 'error_prefix',
} as const

/** Failures spread at random over all tools: this share of the calls that nothing else befalls. */
export const NOISE_SHARE = 0.004

/**
 * Each call of a sample is at most one of these.
 *
 * shutdown: running when its process was told to stop. rescued: succeeded at the second attempt.
 */
export const PLANTS = [
  'nightly_window',
  'weekly_window',
  'wrong_name',
  'string_number',
  'hallucinated',
  'loop',
  'rate_limited',
  'rescued',
  'empty',
  'suspect',
  'tool_error',
  'cancelled',
  'unknown_tool',
  'deferred',
  'noise',
  'crash',
  'shutdown',
] as const
export type Plant = (typeof PLANTS)[number]

export type WindowFacts = {
  /** ISO date in the window's zone. */
  date: string
  fromMs: number
  toMs: number
  /** Whether the upstream was away. */
  hit: boolean
  /** Calls that started in it, and those that failed with the window's class. */
  calls: number
  failures: number
}

/** What was written, counted while writing. */
export type PlantedSummary = {
  nightly: WindowFacts[]
  weekly: WindowFacts[]
  /** Calls by plant; calls that nothing befell are in none. */
  calls: Record<Plant, number>
  wrongName: { sessions: number; corrected: number }
  stringNumber: { sessions: number }
  loops: number
  rateLimitBursts: number
  /** The process that died without a word, and when the next one started. */
  silence: { server: string; writer: string; diedMs: number; backMs: number; openCalls: string[] }
  crash: { server: string; writer: string; atMs: number; call: string }
  fatalStart: { server: string; writer: string; atMs: number }
  rotated: { server: string; writer: string; files: string[] }
  dropped: { server: string; writer: string; fromN: number; toN: number }
  versionChanges: { server: string; from: string; to: string; atMs: number }[]
}
