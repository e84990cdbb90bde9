import { createSeededRandom, type SeededRandom, seedFor } from './seeded-random.ts'

/** What the upstream does instead of answering as it should. */
export type Fault =
  /** The right answer, `ms` later. */
  | { kind: 'slow'; ms: number }
  /** No answer at all until the caller gives up. */
  | { kind: 'hang' }
  /** The connection is cut with a TCP reset. */
  | { kind: 'reset' }
  /** The caller is sent to a replica on a port that nobody listens on. */
  | { kind: 'refused' }
  | { kind: 'rate_limited'; retryAfterS: number }
  | { kind: 'unavailable' }
  /** A proxy's error page, as 200, where JSON belongs. */
  | { kind: 'html' }
  /** A failure told in words inside a 200. */
  | { kind: 'error_text' }

const FAULT_KINDS: Record<Fault['kind'], true> = {
  slow: true,
  hang: true,
  reset: true,
  refused: true,
  rate_limited: true,
  unavailable: true,
  html: true,
  error_text: true,
}

export type FaultRule = {
  operation: string
  /** 0 to 1: the share of requests it hits. */
  share: number
  fault: Fault
}

/** Recurs on the wall clock: from each multiple of `everyMs` (epoch) on, for `lengthMs`. */
export type MaintenanceWindow = {
  operations: readonly string[]
  everyMs: number
  lengthMs: number
  fault: Fault
}

export type FaultScript = { rules: readonly FaultRule[]; maintenance: readonly MaintenanceWindow[] }

export const NO_FAULTS: FaultScript = { rules: [], maintenance: [] }

/** What the live demo sees: 20 seconds of maintenance every two minutes, and a bad day otherwise. */
export const LIVE_FAULTS: FaultScript = {
  rules: [
    { operation: 'get_exchange_rate', share: 0.05, fault: { kind: 'refused' } },
    { operation: 'list_invoices', share: 0.04, fault: { kind: 'reset' } },
    { operation: 'list_invoices', share: 0.05, fault: { kind: 'slow', ms: 900 } },
    { operation: 'get_invoice', share: 0.04, fault: { kind: 'slow', ms: 700 } },
    { operation: 'create_invoice', share: 0.1, fault: { kind: 'reset' } },
    {
      operation: 'export_statement',
      share: 0.25,
      fault: { kind: 'rate_limited', retryAfterS: 30 },
    },
    { operation: 'search_documents', share: 0.06, fault: { kind: 'rate_limited', retryAfterS: 1 } },
    { operation: 'search_documents', share: 0.04, fault: { kind: 'slow', ms: 1_200 } },
    { operation: 'get_document', share: 0.06, fault: { kind: 'html' } },
    { operation: 'summarize_document', share: 0.2, fault: { kind: 'error_text' } },
    { operation: 'reindex_collection', share: 0.2, fault: { kind: 'refused' } },
    { operation: 'list_collections', share: 0.05, fault: { kind: 'unavailable' } },
  ],
  maintenance: [
    {
      operations: ['get_exchange_rate'],
      everyMs: 120_000,
      lengthMs: 20_000,
      fault: { kind: 'hang' },
    },
  ],
}

export type Faults = {
  /** Decides the fate of one request. */
  next(operation: string): Fault | undefined
  /** Goes before the script, for the next `times` requests (default: all). `undefined`: none at all. */
  set(operation: string, fault: Fault | undefined, times?: number): void
  /** Forgets what was set; the script applies again. */
  clear(): void
}

type Override = { fault: Fault | undefined; left: number }

export function createFaults(options: {
  script: FaultScript
  seed: number
  now(): number
}): Faults {
  const overrides = new Map<string, Override>()
  const dice = new Map<string, SeededRandom>()

  const diceFor = (operation: string): SeededRandom => {
    const known = dice.get(operation)
    if (known) return known
    const created = createSeededRandom(seedFor(options.seed, operation))
    dice.set(operation, created)
    return created
  }

  const scripted = (operation: string): Fault | undefined => {
    const window = options.script.maintenance.find(
      ({ operations, everyMs, lengthMs }) =>
        operations.includes(operation) && options.now() % everyMs < lengthMs,
    )
    if (window) return window.fault
    const dice = diceFor(operation)
    return options.script.rules.find(
      (rule) => rule.operation === operation && dice.chance(rule.share),
    )?.fault
  }

  return {
    next(operation) {
      const override = overrides.get(operation)
      if (!override) return scripted(operation)
      override.left -= 1
      if (override.left <= 0) overrides.delete(operation)
      return override.fault
    },
    set(operation, fault, times = Number.POSITIVE_INFINITY) {
      overrides.set(operation, { fault, left: times })
    },
    clear() {
      overrides.clear()
    },
  }
}

/** Reads a fault that came over the control route; undefined if it is none. */
export function parseFault(value: unknown): Fault | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined
  const { kind } = value
  if (typeof kind !== 'string' || !Object.hasOwn(FAULT_KINDS, kind)) return undefined
  if (kind === 'slow') {
    return 'ms' in value && typeof value.ms === 'number' ? { kind, ms: value.ms } : undefined
  }
  if (kind === 'rate_limited') {
    const seconds = 'retryAfterS' in value ? value.retryAfterS : undefined
    return typeof seconds === 'number' ? { kind, retryAfterS: seconds } : undefined
  }
  return { kind: kind as Exclude<Fault['kind'], 'slow' | 'rate_limited'> }
}
