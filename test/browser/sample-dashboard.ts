import type { TestContext } from 'node:test'
import { startWeb } from '../../web/start-web.ts'
import { buildDatabase, type TestCall } from '../web/fixtures/build-database.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** When every sample ends and what its dashboard takes for now: Monday 2026-03-09, noon in UTC. */
export const NOW_MS = Date.UTC(2026, 2, 9, 12)

/** Three weeks of two tools, with a nightly window, a wrong name and a call of each outcome. */
export function sampleCalls(): TestCall[] {
  const midnight = Math.floor(NOW_MS / DAY_MS) * DAY_MS
  const calls: TestCall[] = []
  for (let day = 21; day >= 1; day--) {
    for (let half = 0; half < 48; half++) {
      const startedMs = midnight - day * DAY_MS + (half * HOUR_MS) / 2
      const failed = half === 4 ? { class: 'timeout' as const, message: 'fetch failed' } : {}
      calls.push({ startedMs, tool: 'get_rate', session: `night-${day}`, ...failed })
    }
    calls.push(wrongName(midnight - day * DAY_MS + 9 * HOUR_MS, `day-${day}`))
  }
  return [...calls, ...oneOfEach()]
}

function wrongName(startedMs: number, session: string): TestCall {
  return {
    startedMs,
    tool: 'search',
    session,
    class: 'invalid_arguments',
    message: 'Invalid arguments for "search": `query` is missing.',
    args: { pattern: 'travel expenses' },
    issues: [
      { path: 'pattern', code: 'unknown_key', suggest: 'query' },
      { path: 'query', code: 'missing_required', expected: 'string' },
    ],
  }
}

/** A few calls of the last half hour, one of each outcome. */
export function oneOfEach(): TestCall[] {
  const at = (minutes: number, call: Omit<TestCall, 'startedMs'>): TestCall => ({
    startedMs: NOW_MS - minutes * 60_000,
    session: 'latest',
    ...call,
  })
  return [
    at(30, { tool: 'search', args: { query: 'invoices', limit: 10 } }),
    at(29, { tool: 'search', outcome: 'retried' }),
    at(28, { tool: 'fetch', outcome: 'deferred' }),
    at(27, { tool: 'fetch', class: 'cancelled' }),
    at(26, { tool: 'fetch', class: 'tool_error', message: 'No such document.' }),
    at(25, { tool: 'fetch', class: 'unexpected', message: 'boom' }),
    at(24, { tool: 'fetch', flags: ['empty'] }),
  ]
}

export type SampleDashboard = {
  url: string
  databasePath: string
  add(calls: readonly TestCall[]): void
  close(): Promise<void>
}

/** A dashboard on a port of its own, over a database of its own. */
export async function startSample(calls: readonly TestCall[]): Promise<SampleDashboard> {
  const built = buildDatabase(calls)
  const web = await startWeb({
    databasePath: built.path,
    port: 0,
    zone: 'Europe/Berlin',
    now: () => NOW_MS,
  })
  return {
    url: web.url,
    databasePath: built.path,
    add: built.add,
    async close() {
      await web.close()
      built.close()
    },
  }
}

/** The same, stopped when the test ends. */
export async function sampleDashboard(
  context: TestContext,
  calls: readonly TestCall[],
): Promise<SampleDashboard> {
  const sample = await startSample(calls)
  context.after(() => sample.close())
  return sample
}
