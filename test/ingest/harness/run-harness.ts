import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type FilePort, realFiles } from '../../../ingest/file-port.ts'
import { checkInvariants } from '../../../ingest/store/check-invariants.ts'
import { createRandom, type Random } from '../../../sample-logs/random.ts'
import { createTailer, type TestTailer, type World } from '../support.ts'
import { type LineKind, LogModel } from './log-model.ts'

export type HarnessResult = {
  seed: number
  kind: LineKind
  banner: boolean
  actions: string[]
  lines: number
  mayBeLost: number
  faults: string[]
}

/** What a run may do, and how often. */
const WEIGHTS = {
  append: 10,
  poll: 10,
  tear: 1,
  rename: 3,
  renameHeld: 2,
  copyTruncate: 2,
  copyTruncateWindow: 2,
  copyInParts: 1,
  truncateRegrow: 1,
  truncateDuringRead: 2,
  deleteRecreate: 1,
  deleteOldest: 1,
  backup: 1,
  saveAnew: 1,
  crash: 2,
  crashInTransaction: 2,
  pack: 2,
  retention: 1,
  quiet: 1,
} as const

type Action = keyof typeof WEIGHTS

const SCHEDULE: Action[] = (Object.keys(WEIGHTS) as Action[]).flatMap((action) =>
  Array.from({ length: WEIGHTS[action] }, () => action),
)

/** One random story of a log and its reader. The same seed tells the same story. */
export async function runHarness(
  seed: number,
  trace?: (text: string) => void,
): Promise<HarnessResult> {
  const run = new HarnessRun(seed, trace)
  try {
    return await run.toEnd()
  } finally {
    run.cleanUp()
  }
}

class HarnessRun {
  readonly #trace: ((text: string) => void) | undefined
  readonly #seed: number
  readonly #random: Random
  readonly #world: World
  readonly #model: LogModel
  readonly #kind: LineKind
  readonly #banner: boolean
  readonly #actions: string[] = []
  /** Called before a read of the tailer, once. */
  #beforeRead: { reads: number; act: () => void } | undefined
  #tailer: TestTailer

  constructor(seed: number, trace: ((text: string) => void) | undefined) {
    this.#trace = trace
    this.#seed = seed
    this.#random = createRandom(seed, 'ingest harness')
    this.#kind = this.#random.pick(['stamped', 'unstamped', 'mixed'])
    this.#banner = this.#random.chance(0.4)
    this.#world = createHarnessWorld()
    this.#model = new LogModel(this.#world.logs, this.#random, this.#kind, this.#banner)
    this.#tailer = this.#openTailer()
  }

  async toEnd(): Promise<HarnessResult> {
    const steps = this.#random.integer(10, 50)
    for (let step = 0; step < steps; step += 1) {
      const action = this.#random.pick(SCHEDULE)
      this.#actions.push(action)
      await this.#act[action]()
      this.#trace?.(`${action}\n${this.#describe()}`)
    }
    this.#model.finish()
    await this.#tailer.settleArchives()
    this.#quiet()
    await this.#tailer.settleArchives()
    this.#trace?.(`end\n${this.#describe()}\n${this.#describeDoubles()}`)
    const rows = this.#tailer.database.prepare('SELECT uid, args FROM call_text').all() as {
      uid: string
      args: string
    }[]
    const faults = [...this.#model.judge(rows), ...checkInvariants(this.#tailer.database)]
    const { seed, kind, banner, actions } = this.#story()
    return { seed, kind, banner, actions, ...this.#model.tally(), faults }
  }

  cleanUp(): void {
    this.#tailer.stop()
    rmSync(this.#world.directory, { recursive: true, force: true })
    rmSync(join(this.#world.databasePath, '..'), { recursive: true, force: true })
  }

  #story() {
    return {
      seed: this.#seed,
      kind: this.#kind,
      banner: this.#banner,
      actions: this.#actions,
    }
  }

  readonly #act: Record<Action, () => void | Promise<void>> = {
    append: () => this.#model.append(this.#random.integer(1, 12)),
    poll: () => {
      this.#tailer.poll()
    },
    tear: () => this.#model.tear(),
    rename: () => this.#rename(() => undefined),
    // The writer keeps its file for a while.
    renameHeld: () =>
      this.#rename((moved) => this.#model.append(this.#random.integer(1, 5), moved)),
    copyTruncate: () => this.#copyTruncate(() => undefined),
    copyTruncateWindow: () =>
      this.#copyTruncate(() => {
        this.#model.append(this.#random.integer(1, 5))
        if (this.#random.chance(0.5)) this.#tailer.poll()
      }),
    copyInParts: () => this.#copyInParts(),
    truncateRegrow: () => this.#truncate(this.#random.integer(1, 30)),
    truncateDuringRead: () => this.#duringRead(() => this.#truncate(this.#random.integer(0, 20))),
    deleteRecreate: () => {
      const { log } = this.#model
      if (!existsSync(log)) return
      this.#destroy(log, () => rmSync(log))
      this.#model.append(this.#random.integer(1, 20))
    },
    deleteOldest: () => {
      const oldest = this.#model.rotated().at(-1)
      if (oldest) this.#destroy(oldest, () => rmSync(oldest))
    },
    backup: () => {
      const backup = this.#model.path('app.log.bak')
      if (!existsSync(this.#model.log)) return
      // The backup before it may have been the last to have some lines.
      this.#destroy(backup, () => copyFileSync(this.#model.log, backup))
    },
    saveAnew: () => this.#saveAnew(),
    crash: () => {
      this.#tailer.stop()
      this.#tailer = this.#openTailer()
    },
    crashInTransaction: () => {
      this.#duringRead(() => {
        throw new Error('power cut')
      })
      this.#tailer.stop()
      this.#tailer = this.#openTailer()
    },
    pack: () => this.#pack(),
    retention: () => this.#removeOldest(),
    quiet: () => this.#quiet(),
  }

  /** Files and streams as they are, for a trace. */
  #describe(): string {
    const files = this.#model.names().map((name) => {
      const { size, ino } = statSync(this.#model.path(name))
      return `  ${name}: ${size} bytes, inode ${ino}`
    })
    const streams = this.#tailer.database
      .prepare(`
        SELECT stream.id || ' ' || stream.path || ' at ' || committed_offset || ', ' || stream.state
          || ', inodes ' || coalesce(group_concat(inode), '-')
        FROM stream LEFT JOIN location ON stream_id = stream.id GROUP BY stream.id`)
      .pluck()
      .all()
    return [...files, ...streams.map((stream) => `    ${stream}`)].join('\n')
  }

  #describeDoubles(): string {
    return this.#tailer.database
      .prepare(`
        SELECT uid || ' in streams ' || group_concat(stream_id || ' at ' || line_offset)
        FROM call JOIN call_text ON call_id = call.id GROUP BY uid HAVING count(*) > 1`)
      .pluck()
      .all()
      .join('\n')
  }

  #truncate(linesAfter: number): void {
    const { log } = this.#model
    if (!existsSync(log)) return
    this.#destroy(log, () => truncateSync(log, 0))
    this.#model.append(linesAfter)
  }

  #rename(afterwards: (moved: string) => void): void {
    const { log } = this.#model
    if (!existsSync(log)) return
    this.#shift()
    const moved = this.#model.path('app.log.1')
    renameSync(log, moved)
    this.#model.renamed(log, moved)
    afterwards(moved)
  }

  /** Makes room for a new app.log.1. */
  #shift(): void {
    for (const { path, number, ending } of this.#model.generations().reverse()) {
      const next = this.#model.path(`app.log.${number + 1}${ending}`)
      renameSync(path, next)
      this.#model.renamed(path, next)
    }
  }

  #copyTruncate(window: () => void): void {
    const { log } = this.#model
    if (!existsSync(log)) return
    this.#shift()
    copyFileSync(log, this.#model.path('app.log.1'))
    window()
    this.#destroy(log, () => truncateSync(log, 0))
    if (this.#random.chance(0.5)) this.#model.append(this.#random.integer(1, 30))
  }

  #copyInParts(): void {
    const { log } = this.#model
    if (!existsSync(log)) return
    this.#shift()
    const bytes = readFileSync(log)
    for (let done = 0; done < bytes.length; ) {
      const size = this.#random.integer(1, Math.max(1, bytes.length >> 1))
      appendFileSync(this.#model.path('app.log.1'), bytes.subarray(done, done + size))
      done += size
      this.#tailer.poll()
    }
    this.#destroy(log, () => truncateSync(log, 0))
  }

  /** As an editor does it: a new file takes the place of the old one. */
  #saveAnew(): void {
    const { log } = this.#model
    if (!existsSync(log)) return
    const fresh = this.#model.path('.app.log.swp')
    copyFileSync(log, fresh)
    renameSync(fresh, log)
  }

  /** A rotated file is compressed; for a while both may be there. */
  async #pack(): Promise<void> {
    const path = this.#random.pick([...this.#model.rotated(), ''])
    if (path === '') return
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
    if (this.#random.chance(0.5)) await this.#tailer.settleArchives()
    this.#destroy(path, () => rmSync(path))
  }

  /** As retention does it: the oldest rows go, what was counted stays counted. */
  #removeOldest(): void {
    const { database } = this.#tailer
    const oldest = database
      .prepare('SELECT call_id AS id, uid FROM call_text ORDER BY call_id LIMIT ?')
      .all(this.#random.integer(1, 30)) as { id: number; uid: string }[]
    const last = oldest.at(-1)?.id ?? 0
    database.transaction(() => {
      for (const sql of REMOVE_SQL) database.prepare(sql).run(last)
    })()
    this.#model.removed(oldest.map(({ uid }) => uid))
  }

  #duringRead(act: () => void): void {
    this.#beforeRead = { reads: this.#random.integer(1, 12), act }
    try {
      this.#tailer.poll()
    } catch (error) {
      if (!(error instanceof Error && error.message === 'power cut')) throw error
    }
    this.#beforeRead = undefined
  }

  #quiet(): void {
    this.#tailer.settle()
    this.#tailer.clock.nowMs += 4_000_000
    this.#tailer.settle()
  }

  #destroy(path: string, act: () => void): void {
    const stored = (): Set<string> =>
      new Set(this.#tailer.database.prepare('SELECT uid FROM call_text').pluck().all() as string[])
    this.#model.destroy(path, stored, act)
  }

  #openTailer(): TestTailer {
    const files: FilePort = {
      ...realFiles,
      read: (file, buffer, length, position) => {
        const hook = this.#beforeRead
        if (hook) {
          hook.reads -= 1
          if (hook.reads === 0) hook.act()
        }
        return realFiles.read(file, buffer, length, position)
      },
    }
    const tailer = createTailer(this.#world, { files, limits: { liveLines: 7, importLines: 7 } })
    // Nothing here ends the machine: what the system has taken is safe.
    tailer.database.pragma('synchronous = OFF')
    return tailer
  }
}

const REMOVE_SQL = [
  `UPDATE quarter_count SET removed_calls = removed_calls + gone.calls,
     removed_duration_us = removed_duration_us + gone.duration_us
   FROM (
     SELECT tool_id, class_id, outcome_id, server_id, client_id, started_ms / 900000 AS quarter,
       count(*) AS calls, sum(duration_us) AS duration_us
     FROM call WHERE id <= ? GROUP BY 1, 2, 3, 4, 5, 6
   ) AS gone
   WHERE (quarter_count.tool_id, quarter_count.class_id, quarter_count.outcome_id,
       quarter_count.server_id, quarter_count.client_id, quarter_count.quarter)
     = (gone.tool_id, gone.class_id, gone.outcome_id, gone.server_id, gone.client_id, gone.quarter)`,
  'DELETE FROM call_signature WHERE call_id <= ?',
  'DELETE FROM call_text WHERE call_id <= ?',
  'DELETE FROM call WHERE id <= ?',
]

/** Logs on a real disk, where inodes are used again; the database in memory where there is some. */
function createHarnessWorld(): World {
  const directory = mkdtempSync(join(tmpdir(), 'unsilent-harness-'))
  const shared = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const databaseDirectory = mkdtempSync(join(shared, 'unsilent-harness-db-'))
  const logs = join(directory, 'logs')
  mkdirSync(logs)
  return {
    directory,
    logs,
    databasePath: join(databaseDirectory, 'unsilent.db'),
    log: (name) => join(logs, name),
  }
}
