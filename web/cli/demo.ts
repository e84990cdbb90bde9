import { openSync } from 'node:fs'
import type { Command } from 'commander'
import type { RunningWeb } from '../start-web.ts'
import { type DemoFolder, defaultDemoDirectory, openDemoFolder } from './demo-folder.ts'
import { ensureHistory, type History } from './demo-history.ts'
import { progressText } from './import-progress.ts'
import { parsePort, parsePositive, parseZone } from './options.ts'
import { note, progressLine, writeData } from './output.ts'
import { superviseIngest } from './serve.ts'
import { stopSignal, unlessAborted, untilAborted } from './stop-signal.ts'
import { type Supervised, supervise } from './supervise.ts'
import { pageAnswers } from './wait-for-page.ts'
import { DEFAULT_PORT, HOST } from './web.ts'

const DEFAULT_DAYS = 28
const DEFAULT_CALLS = 40_000
/** Where the invented companies are, so that a nightly window at 02:00 reads as 02:00. */
const DEMO_ZONE = 'Europe/Berlin'

type DemoFlags = {
  fresh?: true
  dir?: string
  port?: number
  days: number
  calls: number
  tz?: string
}

export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('a demo with invented data: servers, an agent that calls them, and the dashboard')
    .option('--fresh', "empty the demo's folder first")
    .option('--dir <directory>', "the demo's folder (default: demo/ in the state directory)")
    .option('--port <number>', `first port to try (default: ${DEFAULT_PORT})`, parsePort)
    .option('--days <number>', 'length of the invented history', parsePositive, DEFAULT_DAYS)
    .option('--calls <number>', 'calls in the invented history', parsePositive, DEFAULT_CALLS)
    .option(
      '--tz <zone>',
      `time zone of the pages (default: ${DEMO_ZONE}, where its companies are)`,
      parseZone,
    )
    .addHelpText('after', HELP)
    .action(demo)
}

async function demo(flags: DemoFlags): Promise<void> {
  const stop = stopSignal()
  const folder = openDemoFolder({
    directory: flags.dir ?? defaultDemoDirectory(),
    fresh: flags.fresh === true,
  })
  // Its servers take a moment to start: long enough to invent the history meanwhile.
  const world = superviseWorld(folder, stop)
  try {
    const history = await loadHistory(folder, flags, stop)
    if (history) await runDemo({ folder, history, world, flags, stop })
  } finally {
    await world.stop()
    folder.release()
  }
}

/** Undefined where it was stopped meanwhile. */
async function loadHistory(
  folder: DemoFolder,
  { days, calls }: DemoFlags,
  stop: AbortSignal,
): Promise<History | undefined> {
  const { generateSampleLogs } = await import('../../sample-logs/generate-sample-logs.ts')
  const line = progressLine()
  try {
    return await ensureHistory({
      directory: folder.historyLogs,
      list: folder.historyList,
      days,
      calls,
      nowMs: Date.now(),
      generate: (batch) =>
        generateSampleLogs({
          ...batch,
          onProgress({ calls: done, ofCalls }) {
            stop.throwIfAborted()
            line.show(`Inventing ${batch.days} days of history: ${percent(done, ofCalls)} %`)
          },
        }),
    })
  } catch (error) {
    if (stop.aborted) return undefined
    throw error
  } finally {
    line.end()
  }
}

async function runDemo(options: {
  folder: DemoFolder
  history: History
  world: Supervised
  flags: DemoFlags
  stop: AbortSignal
}): Promise<void> {
  const { folder, world, flags, stop } = options
  const { ingest, historyLoaded } = startIngest(folder, stop)
  let web: RunningWeb | undefined
  try {
    const { startWeb } = await import('../start-web.ts')
    if (!(await unlessAborted(stop, Promise.all([world.ready, historyLoaded])))) return
    web = await startWeb({
      databasePath: folder.databasePath,
      host: HOST,
      port: flags.port ?? DEFAULT_PORT,
      allowNextPort: true,
      zone: flags.tz ?? DEMO_ZONE,
    })
    await pageAnswers(web.url, stop)
    if (stop.aborted) return
    note(introduction(folder, options.history))
    await writeData(`Dashboard: ${web.url}\n`)
    await untilAborted(stop)
  } finally {
    await Promise.all([world.stop(), ingest.stop(), web?.close()])
  }
}

/** The upstream, and the agent with the servers it starts. */
function superviseWorld(folder: DemoFolder, stop: AbortSignal): Supervised {
  return supervise({
    title: 'The demo agent',
    args: [
      'demo-world',
      ...['--logs', folder.liveLogs],
      ...['--home', folder.path],
      ...['--stderr', folder.processLog],
    ],
    ...surroundingsOf(folder),
    onTrouble: note,
    stop,
  })
}

function startIngest(
  folder: DemoFolder,
  stop: AbortSignal,
): { ingest: Supervised; historyLoaded: Promise<void> } {
  const line = progressLine()
  let finish: () => void = () => undefined
  const caughtUp = new Promise<void>((resolve) => {
    finish = resolve
  })
  const ingest = superviseIngest({
    roots: [folder.historyLogs, folder.liveLogs],
    databasePath: folder.databasePath,
    ...surroundingsOf(folder),
    onTrouble: note,
    stop,
    onProgress(message) {
      if (message.kind !== 'progress') return
      if (message.progress.caughtUp) finish()
      else line.show(progressText(message.progress))
    },
  })
  const historyLoaded = ingest.ready.then(() => caughtUp).finally(() => line.end())
  return { ingest, historyLoaded }
}

/** Everything that the processes write goes into the folder too. */
function surroundingsOf(folder: DemoFolder): { env: NodeJS.ProcessEnv; stderr: number } {
  return {
    env: { ...process.env, UNSILENT_HOME: folder.path },
    stderr: openSync(folder.processLog, 'a', 0o600),
  }
}

const count = new Intl.NumberFormat('en-US')

function introduction(folder: DemoFolder, history: History): string {
  const origin = { made: 'made just now', kept: 'kept', added: 'continued until now' }
  return `
Unsilent demo, everything in it is invented.
  history   ${count.format(history.calls)} calls over ${history.days} days, ${origin[history.state]}
  live      two MCP servers (billing, docs-search) and an agent, about 3 calls a second
  folder    ${folder.path} (--fresh empties it)
  stop      Ctrl-C
`
}

function percent(done: number, all: number): number {
  return Math.min(100, Math.floor((done / all) * 100))
}

const HELP = `
Examples:
  unsilent demo
  unsilent demo --fresh --port 8080
  unsilent demo --dir ./demo --days 7 --calls 5000

A history that is there is kept and continued until now; --fresh makes a new one.`
